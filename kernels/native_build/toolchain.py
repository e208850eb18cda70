"""Finds the compilers and torch's headers, without importing torch."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from native_build.settings import BuildError, Settings

# The oldest torch whose stable ABI has everything that the sources use.
TORCH_TARGET = (2, 10)
CXX_RUNTIME = "libstdc++.so.6"


@dataclass(frozen=True)
class Toolchain:
    """Compilers and headers; ``cxx`` are words (``ccache g++``), ``nvcc`` is None for a build without CUDA.

    ``cxx_runtime``: the shared C++ runtime, which the library must use together with torch.
    """

    cxx: tuple[str, ...]
    cxx_version: str
    cxx_runtime: Path
    nvcc: str | None
    nvcc_version: str | None
    cuda_root: Path | None
    torch_root: Path
    torch_version: str


def find_toolchain(settings: Settings, environ: Mapping[str, str]) -> Toolchain:
    """Find what the settings need; raises BuildError where something wanted is missing."""
    torch_root, torch_version = find_torch()
    cxx = tuple(environ.get("CXX", "").split()) or ("g++",)
    if shutil.which(cxx[0]) is None:
        raise BuildError(f"the C++ compiler {cxx[0]!r} is not on PATH; install one or set CXX")
    nvcc = None if settings.cuda == "0" else find_nvcc(environ)
    if nvcc is None and settings.cuda == "1":
        raise BuildError(
            "FUSED_O_PROJ_CUDA=1, but nvcc was not found in CUDA_HOME, on PATH or in the pip "
            "packages nvidia-cuda-nvcc, -crt, -cccl, -runtime and nvidia-nvvm 13.0"
        )
    return Toolchain(
        cxx=cxx,
        cxx_version=_output([*cxx, "--version"]).splitlines()[0],
        cxx_runtime=_cxx_runtime(cxx),
        nvcc=nvcc,
        nvcc_version=None if nvcc is None else _nvcc_version(nvcc),
        cuda_root=None if nvcc is None else _cuda_root(nvcc),
        torch_root=torch_root,
        torch_version=torch_version,
    )


def _cxx_runtime(cxx: Sequence[str]) -> Path:
    """Return the shared C++ runtime that ``cxx`` finds; raises BuildError when it finds none.

    A compiler that has only the static one, or prefers it, would put a second runtime into the process: exceptions
    and streams that cross from the library into torch then fail or crash.
    """
    found = Path(_output([*cxx, f"-print-file-name={CXX_RUNTIME}"]).strip())
    if not found.is_absolute():
        raise BuildError(
            f"the C++ compiler {' '.join(cxx)!r} finds no shared {CXX_RUNTIME}, which torch uses too; "
            "install it or name another compiler with CXX"
        )
    return found


def find_torch() -> tuple[Path, str]:
    """Return the installed torch's folder and version; raises BuildError without a usable one."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise BuildError(
            "torch is not installed beside this build: install torch >= 2.10 and build with --no-build-isolation"
        )
    root = Path(spec.submodule_search_locations[0])
    text = (root / "version.py").read_text(encoding="utf-8")
    match = re.search(r"__version__ = '(([0-9]+)\.([0-9]+)[^']*)'", text)
    if match is None:
        raise BuildError(f"{root / 'version.py'} names no version of torch")
    version, major, minor = match.groups()
    if (int(major), int(minor)) < TORCH_TARGET:
        raise BuildError(f"torch is {version}, wanted 2.10 or newer (its stable ABI is compiled in)")
    return root, version


def find_nvcc(environ: Mapping[str, str]) -> str | None:
    """Look in CUDA_HOME and CUDA_PATH, then on PATH, then among the pip packages."""
    homes = [environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if environ.get(name)]
    for home in homes:
        candidate = Path(home) / "bin" / "nvcc"
        if candidate.is_file():
            return str(candidate)
    on_path = shutil.which("nvcc", path=environ.get("PATH"))
    if on_path is not None:
        return on_path
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        for candidate in sorted(Path(folder).glob("*/bin/nvcc"), reverse=True):
            if os.access(candidate, os.X_OK):
                return str(candidate)
    return None


def _nvcc_version(nvcc: str) -> str:
    text = _output([nvcc, "--version"])
    match = re.search(r"release [\d.]+, V([\d.]+)", text)
    if match is None:
        raise BuildError(f"{nvcc} --version says no version: {text.strip()!r}")
    return match.group(1)


def _cuda_root(nvcc: str) -> Path:
    """Return the toolkit's folder as nvcc itself sees it (nvcc on PATH may be a wrapper)."""
    text = _output([nvcc, "--dryrun", "-x", "cu", "-c", os.devnull, "-o", os.devnull])
    match = re.search(r"^#\$ TOP=(.+)$", text, re.MULTILINE)
    if match is None:
        raise BuildError(f"{nvcc} --dryrun does not say where its toolkit lies")
    return Path(match.group(1)).resolve()


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", "") or str(error)
        raise BuildError(f"{' '.join(command)} failed: {detail.strip()}") from error
    return done.stdout + done.stderr
