"""Libraries with kernels, compiled here: nvcc needs no GPU."""

import shutil
import subprocess
from pathlib import Path

NVCC = shutil.which("nvcc", path="/usr/local/cuda/bin") or shutil.which("nvcc")
SOURCE = Path(__file__).parent.parent / "workspace" / "kernels.cu"


def compiled(folder: Path, *options: str) -> Path:
    """Compile the kernels into a shared library in ``folder``, and return the folder; needs ``NVCC``."""
    assert NVCC is not None, "tests that compile kernels are skipped without nvcc"
    folder.mkdir(parents=True)
    target = ["-O3", "-arch=sm_90", "-Xcompiler", "-fPIC", "-shared", "-o", str(folder / "libkernels.so")]
    subprocess.run([NVCC, *target, *options, str(SOURCE)], check=True, capture_output=True)
    return folder
