"""Kernels of real libraries, compiled here where there is nvcc, and of what cuobjdump printed of them before."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.cuda_builds import NVCC, compiled

from solwatch.model.why import KernelCode
from solwatch.workspace.cubins import Disassembler, libraries_of
from solwatch.workspace.cuda_tools import ToolFailed, find_tool

HOPPER = (9, 0)
TOOLS = find_tool("cuobjdump", os.environ) and find_tool("nvdisasm", os.environ)
needs_tools = pytest.mark.skipif(not (NVCC and TOOLS), reason="needs nvcc, cuobjdump and nvdisasm")


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("builds")
    return {
        "plain": compiled(home / "plain", "-DTILE=256"),
        "spilling": compiled(home / "spilling", "-DTILE=512", "-maxrregcount=40"),
    }


@needs_tools
def test_what_two_builds_of_a_kernel_take(builds: dict[str, Path], tmp_path: Path) -> None:
    tools = Disassembler.found(os.environ, tmp_path)
    kernels = {name: tools.kernels(libraries_of(folder), HOPPER) for name, folder in builds.items()}
    plain, spilling = kernels["plain"]["sums"], kernels["spilling"]["sums"]
    assert plain.registers >= 60
    assert spilling.registers <= 40
    assert (plain.stack_bytes, plain.instructions) == (0, None)
    assert plain.digest != spilling.digest
    tiles = {name: _tile(found) for name, found in kernels.items()}
    assert {name: (tile.title, tile.shared_bytes) for name, tile in tiles.items()} == {
        "plain": ("tile_kernel<256>", 1024),
        "spilling": ("tile_kernel<512>", 2048),
    }


@needs_tools
def test_what_its_instructions_are(builds: dict[str, Path], tmp_path: Path) -> None:
    tools = Disassembler.found(os.environ, tmp_path)
    read = {}
    for name, folder in builds.items():
        libraries = libraries_of(folder)
        found = tools.with_instructions(tools.kernels(libraries, HOPPER), libraries, HOPPER, {"sums", "absent"})
        assert list(found) == ["sums"]
        read[name] = found["sums"]
    plain, spilling = read["plain"], read["spilling"]
    assert (plain.local_store_bytes, plain.local_load_bytes) == (0, 0)
    assert spilling.local_store_bytes
    assert spilling.local_load_bytes
    assert not spilling.indexed
    for code in (plain, spilling):
        assert code.instructions is not None
        assert code.instructions["barriers"] >= 1
        assert code.instructions["float32"] >= 60
        assert code.instructions["global stores"] == 60
    assert spilling.instructions["local stores"] * 4 <= spilling.local_store_bytes


@needs_tools
def test_equal_sources_elsewhere_are_the_same_kernels(builds: dict[str, Path], tmp_path: Path) -> None:
    again = compiled(tmp_path / "somewhere else", "-DTILE=256")
    tools = Disassembler.found(os.environ, tmp_path / "cache")
    one, other = (tools.kernels(libraries_of(folder), HOPPER) for folder in (builds["plain"], again))
    assert one == other


@needs_tools
def test_code_for_other_gpus_is_left_out(builds: dict[str, Path], tmp_path: Path) -> None:
    tools = Disassembler.found(os.environ, tmp_path)
    assert tools.kernels(libraries_of(builds["plain"]), (8, 0)) == {}
    assert tools.kernels(libraries_of(builds["plain"]), (10, 0)) == {}


@needs_tools
def test_what_was_read_once_is_not_read_again(builds: dict[str, Path], tmp_path: Path) -> None:
    libraries = libraries_of(builds["plain"])
    tools = Disassembler.found(os.environ, tmp_path)
    first = tools.kernels(libraries, HOPPER)
    broken = Disassembler("/nowhere/cuobjdump", {}, tmp_path)
    assert broken.kernels(libraries, HOPPER) == first
    for kept in tmp_path.glob("*.json"):
        kept.write_text("half a li")
    with pytest.raises(ToolFailed, match="cuobjdump can't be started: No such file"):
        broken.kernels(libraries, HOPPER)


Recorded = Callable[..., Disassembler]

FIXTURES = Path(__file__).parent / "cuobjdump"


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    """Return tools that print what cuobjdump printed of the spilling build, or fail as it does."""

    def tools(*, without_nvdisasm: bool = False, damaged: bool = False) -> Disassembler:
        script = tmp_path / "tools" / "cuobjdump"
        script.parent.mkdir()
        cubin = FIXTURES / "kernels.cubin"
        sass = f"cat '{FIXTURES}/sass.txt'"
        if without_nvdisasm:
            sass = 'echo "cuobjdump fatal : nvdisasm not found" >&2; exit 1'
        cubins = "echo damaged > a.1.sm_90a.cubin"
        if not damaged:
            cubins = f"cp '{cubin}' a.1.sm_90a.cubin; cp '{cubin}' a.2.sm_80.cubin"
        answers = {"-xelf": cubins, "-res-usage": f"cat '{FIXTURES}/resources.txt'", "-sass": sass}
        cases = "".join(f"{option}) {answer};;\n" for option, answer in answers.items())
        script.write_text(f"#!/bin/sh\ncase $1 in\n{cases}esac\n")
        script.chmod(0o755)
        path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
        return Disassembler.found({"PATH": path}, tmp_path / "cache")

    return tools


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "build" / "lib").mkdir(parents=True)
    (tmp_path / "build" / "lib" / "libop.so.1").write_bytes(b"\x7fELF .nv_fatbin")
    (tmp_path / "build" / "host.so").write_bytes(b"\x7fELF nothing for a GPU")
    (tmp_path / "build" / "notes.txt").write_bytes(b".nv_fatbin")
    return tmp_path / "build"


def test_libraries_with_code_for_a_gpu(library: Path) -> None:
    assert [path.name for path in libraries_of(library)] == ["libop.so.1"]


def test_what_cuobjdump_printed_is_read(recorded: Recorded, library: Path) -> None:
    tools = recorded()
    libraries = libraries_of(library)
    kernels = tools.kernels(libraries, HOPPER)
    assert (kernels["sums"].registers, kernels["sums"].stack_bytes, _tile(kernels).shared_bytes) == (40, 56, 2048)
    sums = tools.with_instructions(kernels, libraries, HOPPER, {"sums"})["sums"]
    assert (sums.local_store_bytes, sums.local_load_bytes, sums.indexed) == (96, 96, False)
    assert sums.instructions == {
        "all": 453,
        "barriers": 1,
        "float32": 60,
        "global loads": 60,
        "global stores": 60,
        "local loads": 24,
        "local stores": 24,
    }


def test_a_missing_disassembler_is_one_line(recorded: Recorded, library: Path) -> None:
    tools = recorded(without_nvdisasm=True)
    libraries = libraries_of(library)
    kernels = tools.kernels(libraries, HOPPER)
    with pytest.raises(ToolFailed, match="cuobjdump failed with exit code 1: cuobjdump fatal : nvdisasm not found"):
        tools.with_instructions(kernels, libraries, HOPPER, {"sums"})


def test_a_damaged_cubin_is_one_line(recorded: Recorded, library: Path) -> None:
    with pytest.raises(ToolFailed, match=r"a\.1\.sm_90a\.cubin is no cubin that can be read"):
        recorded(damaged=True).kernels(libraries_of(library), HOPPER)


def test_no_cuobjdump_is_one_line_that_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *arguments, **options: None)
    with pytest.raises(ToolFailed, match="pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm"):
        Disassembler.found({}, tmp_path)


def _tile(kernels: dict[str, KernelCode]) -> KernelCode:
    (found,) = [code for code in kernels.values() if code.title.startswith("tile_kernel")]
    return found
