"""Each side's own JIT and autotune caches: private while measuring, digested after warm-up, frozen from then on."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

VARIABLES = {"TRITON_CACHE_DIR": "triton", "TORCHINDUCTOR_CACHE_DIR": "inductor", "CUDA_CACHE_PATH": "cuda"}
"""The environment variables that say where compilers and autotuners keep their results, with a folder name each."""

_TRANSIENT = (".lock", ".tmp", ".pid")


def private_caches(folder: Path) -> dict[str, str]:
    """Return the environment variables that put every known cache under ``folder``."""
    return {variable: str(folder / name) for variable, name in VARIABLES.items()}


class CacheWatch:
    """The caches that the environment names. A cache that isn't named is shared with others and isn't watched."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Find the folders in ``environment``; they need not exist yet."""
        self._folders = {name: Path(environment[name]) for name in sorted(VARIABLES) if environment.get(name)}

    def listing(self) -> frozenset[tuple[str, int]]:
        """Return name and size in bytes of every file: equal as long as nothing compiles or tunes."""
        return frozenset((f"{name}/{relative}", entry.stat().st_size) for name, relative, entry in self._files())

    def digest(self) -> str | None:
        """Return a SHA-256 over names and contents, ``None`` when no cache holds a file."""
        sha = hashlib.sha256()
        empty = True
        for name, relative, entry in self._files():
            empty = False
            sha.update(f"{name}/{relative}\0".encode())
            sha.update(hashlib.sha256(Path(entry.path).read_bytes()).digest())
        return None if empty else sha.hexdigest()

    def _files(self) -> list[tuple[str, str, os.DirEntry[str]]]:
        return sorted(
            ((name, path, entry) for name, folder in self._folders.items() for path, entry in _walk(folder)),
            key=lambda found: found[:2],
        )


def _walk(folder: Path | str, prefix: str = "") -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """Yield each lasting file below ``folder`` with its relative path; twice a block, so without pathlib's cost."""
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        path = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, path + "/")
        elif entry.is_file() and not entry.name.endswith(_TRANSIENT):
            yield path, entry
