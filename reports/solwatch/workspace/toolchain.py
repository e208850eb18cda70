"""What a build's result depends on besides the sources: compilers, packages, devices, environment variables."""

import fnmatch
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

# A build reads these; everything else on the allow-list (HOME, LANG, OMP_…) leaves the wheel as it is.
BUILD_VARIABLES = (
    "FUSED_O_PROJ_*",
    "TORCH_CUDA_ARCH_LIST",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "NVCC_*",
)
_PACKAGES = (
    "torch",
    "setuptools",
    "nvidia-cuda-nvcc",
    "nvidia-cuda-crt",
    "nvidia-nvvm",
    "nvidia-cuda-runtime",
    "nvidia-cuda-cccl",
)
_GPUS = Path("/proc/driver/nvidia/gpus")
_DEVICES = Path("/dev")


def allowed(environment: Mapping[str, str], globs: Iterable[str]) -> dict[str, str]:
    """Return the variables whose names match one of ``globs``; secrets and PYTHONPATH stay behind."""
    patterns = list(globs)
    return {
        name: value
        for name, value in environment.items()
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    }


def build_facts(environment: Mapping[str, str]) -> dict[str, str]:
    """Return everything but the sources and the command that tells one kind of build from another.

    ``environment`` is what the build will see. Values are text; a tool or package that isn't there is ``none``.
    """
    facts = {
        # a wheel of a general project holds code for one interpreter, even if this project's doesn't
        "python": f"{sys.implementation.cache_tag} {platform.system()} {platform.machine()}",
        "c++": _version(environment.get("CXX", "c++"), environment),
        "nvcc": _version(_nvcc(environment), environment),
        # a build that isn't told an architecture picks the visible device's
        "gpus": ", ".join(driver_gpu_models()) or "none",
    }
    facts |= {package: _package(package) for package in _PACKAGES}
    facts |= {f"${name}": value for name, value in allowed(environment, BUILD_VARIABLES).items()}
    return facts


def _nvcc(environment: Mapping[str, str]) -> str:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if environment.get(variable):
            return str(Path(environment[variable]) / "bin" / "nvcc")
    return "nvcc"


def _version(command: str, environment: Mapping[str, str]) -> str:
    words = command.split()
    found = shutil.which(words[0], path=environment.get("PATH")) if words else None
    if found is None:
        return "none"
    # The size and date of the binary too: a compiler replaced in place may keep its version.
    status = Path(found).resolve().stat()
    try:
        said = subprocess.run(
            [found, *words[1:], "--version"], capture_output=True, env=dict(environment), timeout=30, check=False
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        said = "unknown"
    return " / ".join([*filter(None, map(str.strip, said.splitlines())), f"{status.st_size} {int(status.st_mtime)}"])


def _package(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def driver_gpu_models() -> list[str]:
    """Return the models of the GPUs that a process here would see, by the driver's own files; empty without one."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1"):
        return []
    models = set()
    for path in _GPUS.glob("*/information"):
        try:
            lines = path.read_text(errors="replace").splitlines()
        except OSError:
            continue
        models |= {line.partition(":")[2].strip() for line in lines if line.startswith("Model")}
    if not models and any(_DEVICES.glob("nvidia[0-9]*")):
        return ["of unknown model"]  # a container may have the device without the driver's folder
    return sorted(models)
