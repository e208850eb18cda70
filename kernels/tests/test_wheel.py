"""The wheel that setup.py builds: tag, contents, symbols, and the operator from it, elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD_CACHE = ROOT / "build" / "objects"
SOURCES = ("setup.py", "pyproject.toml", "LICENSE", "kernels")

pytestmark = [pytest.mark.wheel, pytest.mark.slow]


def build_wheel(source: Path, target: Path, **settings: str) -> tuple[Path, str]:
    """Build with the object cache under build/; returns the wheel and what the build printed."""
    environ = {**os.environ, "SOLWATCH_BUILD_CACHE": str(BUILD_CACHE), "FUSED_O_PROJ_CUDA": "0", **settings}
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-build-isolation", "--no-deps", "-w", str(target), "."]
    done = subprocess.run(command, cwd=source, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = target.glob("*.whl")
    return wheel, done.stdout + done.stderr


def unpack(wheel: Path, folder: Path) -> Path:
    """Unpack a wheel as installing it would."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run_with(site: Path, program: str, folder: Path) -> str:
    """Run a program in ``folder`` with what lies in ``site``; returns what it printed."""
    environ = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources alone: no build folder, no library from an editable install."""
    copy = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("*.so", "_build_info.json", "__pycache__", "*.egg-info", "build")
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(source, tmp_path_factory.mktemp("wheel"))[0]


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(wheel, tmp_path_factory.mktemp("site"))


def test_the_tag_names_no_python(wheel: Path) -> None:
    assert wheel.name.startswith("fused_o_proj-0.1.0-py3-none-linux_")


def test_contents(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    package = {name.removeprefix("fused_o_proj/") for name in names if name.startswith("fused_o_proj/")}
    python = {path.name for path in (ROOT / "kernels" / "fused_o_proj").glob("*.py")}
    assert package == python | {"libfused_o_proj.so", "_build_info.json", "py.typed"}
    assert all(name.startswith(("fused_o_proj/", "fused_o_proj-0.1.0.dist-info/")) for name in names)
    assert "fused_o_proj-0.1.0.dist-info/licenses/LICENSE" in names


def test_the_library_needs_no_python(site: Path) -> None:
    if shutil.which("nm") is None:
        pytest.skip("nm (binutils) is not installed")
    library = site / "fused_o_proj" / "libfused_o_proj.so"
    symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in symbols.splitlines()]
    assert "torch_call_dispatcher" in {name.partition("@")[0] for name in names}
    assert not [name for name in names if name.startswith(("Py", "_Py"))]
    assert not [name for name in names if "c10" in name or "2at6" in name], "beyond the stable ABI"


def test_it_works_from_another_folder(site: Path, tmp_path: Path) -> None:
    program = (
        "import torch, fused_o_proj as f; a = torch.ones(2, 3)\n"
        "assert f.o_proj_residual(a, torch.ones(2, 4), torch.ones(4, 3)).eq(4).all()\n"
        "print(f.__file__); print(f.build_info()['kind'], f.build_info()['delay_ppm'])"
    )
    where, kind = run_with(site, program, tmp_path).split("\n", 1)
    assert Path(where).is_relative_to(site)
    assert kind.split() == ["cpu", "0"]


def test_a_change_of_python_compiles_nothing(source: Path, wheel: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(source, moved)
    with (moved / "kernels" / "fused_o_proj" / "op.py").open("a", encoding="utf-8") as stream:
        stream.write("# changed\n")
    _, printed = build_wheel(moved, tmp_path / "wheels", CXXFLAGS="")
    assert "nothing to compile" in printed


def test_the_delay_is_a_share_of_the_time_and_is_told(source: Path, wheel: Path, tmp_path: Path) -> None:
    delayed, _ = build_wheel(source, tmp_path, FUSED_O_PROJ_DELAY_PPM="9000000")
    # A plain call is followed by the pause that a delayed one has inside: before either, caches that other processes
    # use too have cooled as much.
    program = (
        "import time, torch, fused_o_proj as f\n"
        "torch.set_num_threads(1)\n"
        "args = torch.ones(64, 512), torch.ones(64, 512), torch.ones(512, 512)\n"
        "ppm = f.build_info()['delay_ppm']\n"
        "def call():\n"
        "    begin = time.perf_counter(); f.o_proj_residual(*args); took = time.perf_counter() - begin\n"
        "    while not ppm and time.perf_counter() < begin + 10 * took: pass\n"
        "    return took\n"
        "print(min(call() for _ in range(400)), ppm)"
    )
    plain_s, plain_ppm = run_with(unpack(wheel, tmp_path / "plain"), program, tmp_path).split()
    delayed_s, delayed_ppm = run_with(unpack(delayed, tmp_path / "delayed"), program, tmp_path).split()
    assert (int(plain_ppm), int(delayed_ppm)) == (0, 9_000_000)
    assert 5 < float(delayed_s) / float(plain_s) < 15


def test_a_compiler_that_prefers_its_static_runtime_still_shares_torchs(source: Path, tmp_path: Path) -> None:
    compiler = tmp_path / "static-g++"
    compiler.write_text(f'#!/bin/sh\nexec {os.environ.get("CXX") or "g++"} -static-libstdc++ "$@"\n')
    compiler.chmod(0o755)
    wheel, _ = build_wheel(source, tmp_path, CXX=f"env {compiler}")  # two words, as with ccache
    site = unpack(wheel, tmp_path / "site")
    program = (
        "import torch, fused_o_proj\n"
        "try: torch.ops.fused_o_proj.o_proj_residual(torch.ones(2, 3), torch.ones(2, 4), torch.ones(4, 5))\n"
        "except RuntimeError as error: print(error)"
    )
    assert "o_proj_weight has shape [4, 5], wanted [N, 3]" in run_with(site, program, tmp_path)


def test_build_facts(site: Path) -> None:
    facts = json.loads((site / "fused_o_proj" / "_build_info.json").read_text(encoding="utf-8"))
    assert facts["kind"] == "cpu"
    assert facts["nvcc"] is None
    assert facts["torch_target"] == "2.10"
    assert "source_sha256" not in facts, "a changed comment would make another wheel"


def test_a_compiler_error_is_shown(source: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(source, broken)
    file = broken / "kernels" / "fused_o_proj" / "csrc" / "schema.cpp"
    file.write_text(file.read_text(encoding="utf-8") + "#error deliberately broken\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="deliberately broken"):
        build_wheel(broken, tmp_path / "wheels")
