"""Collecting what explains a verdict: from real builds, with a profiler that is a script, and without either."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.cuda_builds import NVCC, compiled
from fakes.reasons import called, launch, with_calls
from fakes.records import CPU, CPU_CEILINGS, FakeCell, commit, record
from fakes.rounds import FakeClock
from fakes.workers import FakeServer, bench

from solwatch.app.builds import Built
from solwatch.app.explaining import why
from solwatch.app.session import Services, Session
from solwatch.app.sides import Side
from solwatch.app.survey import Survey
from solwatch.judge.judging import judge
from solwatch.model.errors import MachineError
from solwatch.model.machine import Card
from solwatch.model.record import Environment, GpuIdentity, Record
from solwatch.model.why import Why
from solwatch.workspace.cuda_tools import find_tool

SLOW, SAME = "sums.Sums(8)", "sums.Sums(16)"
TOOLS = find_tool("cuobjdump", os.environ) and find_tool("nvdisasm", os.environ)
needs_tools = pytest.mark.skipif(not (NVCC and TOOLS), reason="needs nvcc, cuobjdump and nvdisasm")
SUMS = called(launch(kernel="sums", dynamic_shared_bytes=0, static_shared_bytes=None))
NCU_COLUMNS = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum"'
)
NCU_ROW = '"0","1","python3","h","sums","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0","1,000","24","2,000"'


def of_cells(*cells: FakeCell, calls: Any = SUMS) -> Record:
    return with_calls(record(cells), SLOW, calls, calls)


@pytest.fixture
def slower() -> Record:
    return of_cells(FakeCell(key=SLOW, ratio=1.05), FakeCell(key=SAME))


Asked = Callable[..., Why | None]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Ask why: ``head``, ``base`` are folders of builds, ``environment`` the variables, ``uuid`` the GPU's."""
    monkeypatch.setattr("solwatch.app.explaining.visible_cards", lambda: [Card(name="H200", capability=(9, 0))])
    said: list[str] = []

    def built(name: str, folder: Path, environment: Environment | None) -> Built:
        folder.mkdir(exist_ok=True, parents=True)
        return Built(
            commit=commit("4be1c0ffee", name, "subject"),
            side=Side(name=name, path=(str(folder),)),
            benchmarks_dir=tmp_path / "benchmarks",
            compiled=False,
            wall_s=0.0,
            environment=environment,
        )

    def asked(
        record: Record,
        head: Path | None = None,
        base: Path | None = None,
        *,
        environment: dict[str, str] | None = None,
        apart: Environment | None = None,
        device: str = "cuda:0",
        uuid: str = "GPU-1",
        profile: bool = True,
    ) -> Why | None:
        header = msgspec.structs.replace(record.header, gpus=[GpuIdentity(index=0, uuid=uuid)])
        record = msgspec.structs.replace(record, header=header)
        found = Survey(cells=[], vanished=[], work={}, fingerprint=header.fingerprint, ceilings=header.ceilings)
        server = FakeServer()
        server.environment, server.python = {"PATH": os.environ["PATH"]}, "python3"
        ready = Session(
            benches=[bench(server, tmp_path, device=device, seed=7)],
            head=built("head", head or tmp_path / "no head", apart),
            base=built("base", base or tmp_path / "no base", apart),
            survey=found,
            header=header,
        )
        services = Services(
            repository=FakeRepository(tmp_path),
            clock=FakeClock(),
            environment=environment if environment is not None else {"PATH": str(tmp_path / "nothing")},
            machine="m",
            say=said.append,
            progress=lambda total, budget: None,
        )
        return why(services, ready, record, judge(record), profile=profile)

    return asked


class FakeRepository:
    """A repository of which only the folder is asked."""

    def __init__(self, root: Path) -> None:
        self.root = root


@pytest.fixture
def no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solwatch.workspace.cubins.find_tool", lambda name, environment: None)


def ncu(folder: Path, text: str) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "ncu"
    script.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{folder}/asked'\n{text}\n")
    script.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@needs_tools
def test_the_kernels_of_two_real_builds(ask: Asked, slower: Record, tmp_path: Path) -> None:
    head = compiled(tmp_path / "head", "-DTILE=256", "-maxrregcount=40")
    base = compiled(tmp_path / "base", "-DTILE=256")
    found = ask(slower, head, base, environment=dict(os.environ))
    assert found is not None
    assert found.notes == []
    assert (found.kernels.differing, found.kernels.only_head, found.kernels.only_base) == (["sums"], [], [])
    assert found.kernels.same == 1
    assert found.files["machine code"] == ["libkernels.so"]
    assert list(found.head) == list(found.base) == ["sums"]
    judgement = judge(msgspec.structs.replace(slower, why=found))
    sentences = judgement.reasons[SLOW].sentences
    assert len(sentences) == 1
    assert sentences[0].startswith("spills appeared: 0 → ")


@needs_tools
def test_an_environment_s_own_copy_is_read(ask: Asked, slower: Record, tmp_path: Path) -> None:
    home = tmp_path / "env"
    compiled(home / "lib" / "python3.12" / "site-packages" / "op", "-DTILE=256")
    own = Environment(path=str(home), python="3.12.1", own=["op"])
    found = ask(slower, environment=dict(os.environ), apart=own)
    assert found is not None
    assert list(found.head) == ["sums"]
    assert found.files == {}


@needs_tools
def test_a_plan_names_a_kernel_where_no_launch_is_known(ask: Asked, tmp_path: Path) -> None:
    builds = [compiled(tmp_path / name, "-DTILE=256") for name in ("head", "base")]
    planned = of_cells(FakeCell(key=SLOW, ratio=1.05), calls=called(kernel="tile_kernel"))
    found = ask(planned, *builds, environment=dict(os.environ))
    assert found is not None
    assert [code.title for code in found.head.values()] == ["tile_kernel<256>"]
    (sentence,) = judge(msgspec.structs.replace(planned, why=found)).reasons[SLOW].sentences
    assert sentence.startswith("the machine code of the kernel is the same")


def test_nothing_is_looked_for_where_nothing_changed(ask: Asked) -> None:
    assert ask(of_cells(FakeCell(key=SLOW), FakeCell(key=SAME))) is None


def test_a_machine_without_tools_is_one_line(ask: Asked, slower: Record, no_tools: None) -> None:
    found = ask(slower)
    assert found is not None
    assert [note.partition(":")[0] for note in found.notes] == [
        "no cuobjdump on PATH, below CUDA_HOME or among the packages"
    ]
    assert (found.kernels, found.profiles) == (None, {})


def test_a_driver_that_is_gone_is_one_line(
    ask: Asked, slower: Record, no_tools: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> list[Card]:
        raise MachineError("the CUDA driver is not installed: libcuda.so.1 can't be loaded")

    monkeypatch.setattr("solwatch.app.explaining.visible_cards", gone)
    found = ask(slower)
    assert found is not None
    assert found.notes == ["the CUDA driver is not installed: libcuda.so.1 can't be loaded"]


def test_on_a_cpu_the_files_that_differ_are_named(ask: Asked, tmp_path: Path) -> None:
    for name, text in (("head", "import time"), ("base", "")):
        (tmp_path / name / "op").mkdir(parents=True)
        (tmp_path / name / "op" / "__init__.py").write_text(text)
    taken = record([FakeCell(key=SLOW, ratio=1.3, launches=None)], fingerprint=CPU, ceilings=CPU_CEILINGS)
    found = ask(taken, tmp_path / "head", tmp_path / "base", device="cpu")
    assert found is not None
    assert (found.files["machine code"], found.files["Python sources"]) == ([], ["op/__init__.py"])
    assert judge(msgspec.structs.replace(taken, why=found)).reasons[SLOW].sentences == [
        "no machine code differs between the builds; what does: op/__init__.py"
    ]


def test_a_build_that_is_gone_is_one_line(ask: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(folder: Path, build: str) -> dict[str, dict[str, str]]:
        raise FileNotFoundError(2, "No such file or directory", str(folder))

    monkeypatch.setattr("solwatch.app.explaining.contents_of_build", gone)
    taken = record([FakeCell(key=SLOW, ratio=1.3, launches=None)], fingerprint=CPU, ceilings=CPU_CEILINGS)
    found = ask(taken, device="cpu")
    assert found is not None
    assert len(found.notes) == 1
    assert "No such file or directory" in found.notes[0]


def test_environments_have_no_builds_to_compare(ask: Asked, slower: Record, no_tools: None) -> None:
    found = ask(slower, apart=Environment(path="/envs/a", python="3.12.1"))
    assert found is not None
    assert found.files == {}


def test_the_slowest_cells_are_profiled_on_both_sides(ask: Asked, no_tools: None, tmp_path: Path) -> None:
    cells = [FakeCell(key=f"sums.Sums({size})", ratio=1.05 + 0.01 * size) for size in range(5)]
    taken = record([*cells, FakeCell(key="faster", ratio=0.9), FakeCell(key="plain asv", ratio=1.5, kind="asv")])
    printed = "\n".join(["==PROF== Connected", NCU_COLUMNS, NCU_ROW])
    found = ask(taken, environment=ncu(tmp_path / "tools", f"cat << 'END'\n{printed}\nEND"))
    assert found is not None
    assert list(found.profiles) == ["sums.Sums(4)", "sums.Sums(3)", "sums.Sums(2)"]
    pair = found.profiles["sums.Sums(4)"]
    assert (pair.head, pair.head[0].dram_bytes) == (pair.base, 1024)
    assert found.notes[-1] == "ncu was run for the 3 slowest cells, not for 2 more"
    asked = [json.loads(line) for line in (tmp_path / "tools" / "asked").read_text().splitlines() if line[:1] == "{"]
    assert [(each["key"], Path(each["path"][0]).name) for each in asked[:2]] == [
        ("sums.Sums(4)", "no head"),
        ("sums.Sums(4)", "no base"),
    ]
    assert asked[0]["device"] == "cuda:0"


def test_a_refusal_of_the_profiler_is_one_line_and_the_last_word(
    ask: Asked, slower: Record, no_tools: None, tmp_path: Path
) -> None:
    refusal = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
    found = ask(slower, environment=ncu(tmp_path / "tools", f"echo '{refusal}'; exit 1"))
    assert found is not None
    assert found.profiles == {}
    assert found.notes[-1].startswith("ncu may not read the GPU's counters (ERR_NVGPUCTRPERM)")


def test_steps_of_a_search_are_not_profiled(ask: Asked, slower: Record, no_tools: None, tmp_path: Path) -> None:
    assert ask(slower, environment=ncu(tmp_path / "tools", "exit 1"), profile=False) is not None
    assert not (tmp_path / "tools" / "asked").exists()


def test_a_slice_of_a_gpu_is_not_profiled(ask: Asked, slower: Record, no_tools: None, tmp_path: Path) -> None:
    found = ask(slower, environment=ncu(tmp_path / "tools", "exit 1"), uuid="MIG-1")
    assert found is not None
    assert found.notes[-1].startswith("ncu was not run: the device is a slice (MIG)")
    assert not (tmp_path / "tools" / "asked").exists()
