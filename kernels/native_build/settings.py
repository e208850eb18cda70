"""What the person who builds asks for, read from the environment.

FUSED_O_PROJ_CUDA        auto (default: CUDA where nvcc is found), 1 (nvcc missing is an error), 0
FUSED_O_PROJ_DELAY_PPM   planted slowdown in millionths of a kernel's own time, for tests of the gate (default 0)
TORCH_CUDA_ARCH_LIST     "8.0;9.0a+PTX" (default: the visible GPU's, else 9.0a)
MAX_JOBS                 compilers at a time (default: the cores this process may use)
SOLWATCH_BUILD_CACHE     folder of compiled objects, shared between commits, at most 256 MiB (default: none)
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_ARCH = "90a"
# Compute capabilities whose fastest instructions exist only under the "a" target.
ARCH_SPECIFIC = {"90": "90a"}


class BuildError(Exception):
    """The build can't be done as asked; the message says what was given and what helps."""


@dataclass(frozen=True)
class Settings:
    """The build that was asked for; ``archs`` like ``("80", "90a+PTX")``."""

    cuda: str
    delay_ppm: int
    archs: tuple[str, ...]
    jobs: int
    cache_dir: Path | None


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Read the settings; raises BuildError for a value that means nothing."""
    cuda = environ.get("FUSED_O_PROJ_CUDA", "auto").strip().lower() or "auto"
    if cuda not in ("auto", "0", "1"):
        raise BuildError(f"FUSED_O_PROJ_CUDA is {cuda!r}, wanted auto, 0 or 1")
    cache = environ.get("SOLWATCH_BUILD_CACHE", "").strip()
    return Settings(
        cuda=cuda,
        delay_ppm=_whole_number(environ, "FUSED_O_PROJ_DELAY_PPM", 0),
        archs=parse_archs(environ.get("TORCH_CUDA_ARCH_LIST", "")),
        jobs=max(1, _whole_number(environ, "MAX_JOBS", len(os.sched_getaffinity(0)))),
        cache_dir=Path(cache).absolute() if cache else None,
    )


def _whole_number(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "").strip()
    if not text:
        return default
    if not text.isdecimal():
        raise BuildError(f"{name} is {text!r}, wanted a whole number, 0 or more")
    return int(text)


def parse_archs(text: str) -> tuple[str, ...]:
    """Turn torch's list ("8.0;9.0a+PTX", ";" or spaces) into ("80", "90a+PTX").

    Empty asks for the default: the visible GPU's, else 9.0a. Raises BuildError for anything else.
    """
    names = text.replace(";", " ").replace(",", " ").split()
    if not names:
        return visible_gpu_archs() or (DEFAULT_ARCH,)
    archs = []
    for name in names:
        match = re.fullmatch(r"(\d+)\.(\d)([af]?)(\+PTX)?", name)
        if match is None:
            raise BuildError(f"TORCH_CUDA_ARCH_LIST holds {name!r}, wanted numbers like 8.0, 9.0a or 9.0+PTX")
        major, minor, variant, ptx = match.groups()
        if int(major) < 8:
            raise BuildError(f"TORCH_CUDA_ARCH_LIST holds {name!r}, wanted 8.0 or newer")
        archs.append(f"{major}{minor}{variant}{ptx or ''}")
    return tuple(dict.fromkeys(archs))


def visible_gpu_archs() -> tuple[str, ...]:
    """Ask the driver for the architectures of the GPUs in this machine; () without any."""
    command = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return ()
    capabilities = re.findall(r"^(\d+)\.(\d)$", answer.stdout, re.MULTILINE)
    archs = sorted({major + minor for major, minor in capabilities if int(major) >= 8})
    return tuple(ARCH_SPECIFIC.get(arch, arch) for arch in archs)
