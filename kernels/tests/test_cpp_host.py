"""The library as CMake builds it, loaded and called by a C++ program."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = Path(__file__).resolve().parents[1]

pytestmark = [pytest.mark.wheel, pytest.mark.slow]


def test_a_host_without_python(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    steps = [
        ["cmake", "-S", str(KERNELS), "-B", str(tmp_path), "-DFUSED_O_PROJ_CUDA=OFF"],
        ["cmake", "--build", str(tmp_path), "-j2"],
        ["ctest", "--test-dir", str(tmp_path), "--output-on-failure"],
    ]
    steps[0].append(f"-DPython3_EXECUTABLE={sys.executable}")
    for command in steps:
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed" in done.stdout
