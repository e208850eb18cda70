"""The compiler's report on the CUDA library: code for every promised architecture, and no register spills."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = Path(__file__).resolve().parents[1]
ARCHS = {"8.0": "sm_80", "8.6": "sm_86", "8.9": "sm_89", "9.0a": "sm_90a", "10.0": "sm_100", "12.0": "sm_120"}
FAMILIES = ("mma_tile_kernel", "simt_tile_kernel", "simt_rows_kernel")

pytestmark = pytest.mark.slow


def tool(name: str) -> str | None:
    """Where a CUDA tool lies: on PATH, in the toolkit, among the packages."""
    places = [os.environ.get("PATH", ""), "/usr/local/cuda/bin"]
    places += [str(path) for folder in sys.path for path in Path(folder).glob("nvidia/*/bin")]
    return shutil.which(name, path=os.pathsep.join(places))


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, int]]:
    """(architecture, mangled name) of each kernel to its REG, STACK, LOCAL and SHARED."""
    cuobjdump = tool("cuobjdump")
    if cuobjdump is None or tool("nvcc") is None:
        pytest.skip("needs nvcc and cuobjdump")
    folder = tmp_path_factory.mktemp("library")
    asked = {"FUSED_O_PROJ_CUDA": "1", "TORCH_CUDA_ARCH_LIST": ";".join(ARCHS), "PYTHONPATH": str(KERNELS)}
    program = "import sys, pathlib; from native_build.library import build; build(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, env=os.environ | asked)
    command = [cuobjdump, "--dump-resource-usage", str(folder / "libfused_o_proj.so")]
    return parse(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def parse(report: str) -> dict[tuple[str, str], dict[str, int]]:
    found = {}
    arch = name = ""
    for line in report.splitlines():
        if match := re.match(r"arch = (\S+)", line):
            arch = match.group(1)
        elif match := re.match(r"\s*Function (\S+):", line):
            name = match.group(1)
        elif "REG:" in line:
            found[arch, name] = {key: int(value) for key, value in re.findall(r"([A-Z]+):(\d+)", line)}
    return found


def test_a_report_is_read() -> None:
    report = """
Fatbin elf code:
================
arch = sm_90a
Resource usage:
 Common:
  GLOBAL:0
 Function _Z4tile:
  REG:40 STACK:8 SHARED:128 LOCAL:0 CONSTANT[0]:640 TEXTURE:0 SURFACE:0 SAMPLER:0
"""
    assert parse(report)["sm_90a", "_Z4tile"]["STACK"] == 8


def test_every_promised_architecture_has_every_kernel(resources: dict[tuple[str, str], dict[str, int]]) -> None:
    by_arch = {arch: {name for found, name in resources if found == arch} for arch in ARCHS.values()}
    for arch, names in by_arch.items():
        for family in FAMILIES:
            assert any(family in name for name in names), f"{arch} has no {family}"
    portable = [{name for name in names if any(f in name for f in FAMILIES)} for names in by_arch.values()]
    assert all(names == portable[0] for names in portable)


def test_hopper_has_its_own_kernel_and_the_others_an_empty_one(
    resources: dict[tuple[str, str], dict[str, int]],
) -> None:
    registers = {(arch, name): used["REG"] for (arch, name), used in resources.items() if "decode_kernel" in name}
    assert {arch for arch, _ in registers} == set(ARCHS.values())
    for (arch, _), count in registers.items():
        assert (count > 32) == (arch == "sm_90a")


def test_no_kernel_spills(resources: dict[tuple[str, str], dict[str, int]]) -> None:
    spilled = {key: used for key, used in resources.items() if used["STACK"] > 0 or used["LOCAL"] > 0}
    assert not spilled
