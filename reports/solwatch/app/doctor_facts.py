"""Facts about this machine that need neither torch nor a GPU to be read: compilers, torch's version, disk."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from solwatch.model.machine import CompilerFacts, TorchFacts

ANSWER_S = 30.0
"""Longest time that a compiler may take to tell its version."""


def torch_facts() -> TorchFacts | None:
    """Return the torch that would be imported, without importing it; ``None`` when there is none.

    The CUDA version is read from the text of torch's own ``version.py``.
    """
    found = importlib.util.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        return None
    text = (Path(next(iter(found.submodule_search_locations))) / "version.py").read_text(encoding="utf-8")
    version = re.search(r"""^__version__ *= *['"]([^'"]+)""", text, re.MULTILINE)
    cuda = re.search(r"""^cuda\b[^=]*= *['"]([^'"]+)""", text, re.MULTILINE)
    return TorchFacts(
        version=version[1] if version else importlib.metadata.version("torch"), cuda=cuda[1] if cuda else None
    )


def cpp_compiler(environment: Mapping[str, str]) -> CompilerFacts | None:
    """Return the C++ compiler that a build takes: ``CXX``, else ``g++``; ``None`` when it isn't there."""
    return _compiler(environment.get("CXX") or "g++", environment, r"^.*$")


def cuda_compiler(environment: Mapping[str, str]) -> CompilerFacts | None:
    """Return nvcc of ``CUDA_HOME``, ``CUDA_PATH``, PATH, the usual folder or the pip packages; ``None`` without."""
    homes = [environment.get("CUDA_HOME"), environment.get("CUDA_PATH")]
    named = [Path(home) / "bin" / "nvcc" for home in homes if home]
    for command in [*map(str, named), "nvcc", "/usr/local/cuda/bin/nvcc", *_packaged_nvcc()]:
        found = _compiler(command, environment, r"V(\d+\.\d+\.\d+)")
        if found is not None:
            return found
    return None


def free_bytes(folder: Path) -> float:
    """Return the bytes free for this user on the disk that holds ``folder`` or its nearest existing parent."""
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    return float(shutil.disk_usage(existing).free)


def _packaged_nvcc() -> list[str]:
    try:
        files = importlib.metadata.files("nvidia-cuda-nvcc") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [str(file.locate()) for file in files if file.parts[-2:] == ("bin", "nvcc")]


def _compiler(command: str, environment: Mapping[str, str], version: str) -> CompilerFacts | None:
    words = command.split() if not os.path.isabs(command) else [command]  # CXX may hold a wrapper: "ccache g++"
    found = shutil.which(words[0], path=environment.get("PATH")) if words else None
    if found is None:
        return None
    try:
        said = subprocess.run(
            [found, *words[1:], "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            env=dict(environment),
            timeout=ANSWER_S,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return CompilerFacts(path=found, version=None)
    match = re.search(version, said.strip(), re.MULTILINE)
    return CompilerFacts(path=found, version=match[match.lastindex or 0] if match else None)
