"""CUDA architectures as build systems name them: ``8.0``, ``9.0a``, ``10.0f``, ``9.0+PTX``."""

import re
from collections.abc import Iterable

ARCHITECTURE = r"([89]|[1-9][0-9])\.([0-9])([af]?)(\+PTX)?"
"""The names that are known: groups major, minor, variant, PTX."""

_PTX = "+PTX"


def runs_on(architecture: str, capability: tuple[int, int]) -> bool:
    """Return whether code built for ``architecture`` runs on a GPU of compute capability ``capability``, (9, 0).

    ``9.0a`` runs on 9.0 alone, ``10.0f`` on 10.0 and later ones of that major version, as machine code for ``8.0``
    does on 8.x; ``+PTX`` adds every later GPU, compiled by its driver (CUDA C++ Programming Guide, compatibility).
    """
    built, variant, ptx = _parts(architecture)
    if variant == "a":
        return capability == built
    same_major = capability[0] == built[0] and capability >= built
    return same_major or (ptx and variant == "" and capability >= built)


def build_list(architectures: Iterable[str]) -> str:
    """Return ``architectures`` as one list for ``TORCH_CUDA_ARCH_LIST``: each once, oldest first, ``8.0;9.0a+PTX``.

    Of the same architecture with and without PTX the former is kept: it holds the machine code too.
    """
    named = set(architectures)
    kept = [name for name in named if name.endswith(_PTX) or name + _PTX not in named]
    return ";".join(sorted(kept, key=_parts))


def _parts(architecture: str) -> tuple[tuple[int, int], str, bool]:
    match = re.fullmatch(ARCHITECTURE, architecture)
    if match is None:
        raise ValueError(f"{architecture!r} is no CUDA architecture")
    return (int(match[1]), int(match[2])), match[3], match[4] is not None
