"""Which cells need no time: each clause that can make two sides different, on scripted workers."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.records import CPU, FakeCell, record
from fakes.workers import DIED, FakeServer, FakeWorker, bench, cells

from solwatch.app.builds import Built
from solwatch.app.identical import drawn, identity
from solwatch.app.session import Request, Services, Session
from solwatch.app.sides import Side
from solwatch.app.survey import Survey
from solwatch.model.cell import CellInfo, CellSelection
from solwatch.model.config import CellOverride, Config
from solwatch.model.identity import Identity
from solwatch.model.protocol import Look, Looked
from solwatch.model.record import Ceilings, Environment, Failure

KEYS = [f"suite.Cell({number})" for number in range(10)]


@dataclasses.dataclass
class Pair:
    """Two sides on disk, as builds and exports leave them, and what their workers answer."""

    folder: Path
    server: FakeServer = dataclasses.field(default_factory=FakeServer)
    config: Config = dataclasses.field(default_factory=Config)
    infos: list[CellInfo] = dataclasses.field(default_factory=lambda: cells(*KEYS))
    said: list[str] = dataclasses.field(default_factory=list)
    seed: int = 7

    def built(self, name: str) -> Built:
        commit = record([FakeCell(key="a")]).header.head
        return Built(
            commit=msgspec.structs.replace(commit, build=f"key-of-{name}"),
            side=Side(name=name, path=(str(self.folder / name / "wheel"),)),
            benchmarks_dir=self.folder / name / "home" / "benchmarks",
            compiled=False,
            wall_s=0.0,
        )

    def identity(
        self, *, measure_all: bool = False, base: bool = True, env: Environment | None = None
    ) -> Identity | None:
        where = bench(self.server, self.folder / "caches", device="cpu", seed=self.seed)
        head = self.built("head")
        ready = Session(
            benches=[where],
            head=dataclasses.replace(head, environment=env),
            base=dataclasses.replace(self.built("base"), environment=env) if base else None,
            survey=Survey(cells=self.infos, vanished=[], work={}, fingerprint=CPU, ceilings=Ceilings()),
            header=record([FakeCell(key=key) for key in KEYS], config=self.config, fingerprint=CPU).header,
        )
        request = Request(
            command="solwatch gate", head="HEAD", base="HEAD~1", device="cpu", selection=CellSelection("all"),
            config=self.config, measure_all=measure_all,
        )  # fmt: skip
        services = Services(
            repository=None,  # type: ignore[arg-type]  # nothing here asks git
            clock=None,  # type: ignore[arg-type]
            environment={"PATH": "/bin", "SECRET": "1"},
            machine="m",
            say=self.said.append,
            progress=None,  # type: ignore[arg-type]
        )
        return identity(request, services, ready)

    def unmeasured(self) -> dict[str, str | None]:
        found = self.identity()
        assert found is not None
        return found.unmeasured


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    files = {
        "wheel/op/__init__.py": "import op.code\n",
        "wheel/op/code.so": "\x7fELF, as far as anybody looks",
        "wheel/op/table.json": "{}",
        "home/benchmarks/__init__.py": "",
        "home/benchmarks/shapes.txt": "8 16",
        "home/data/weights.txt": "1 2 3",
        "home/README.md": "head and base differ in this",
    }
    for side in ("head", "base"):
        for name, text in files.items():
            path = tmp_path / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (tmp_path / "base/home/README.md").write_text("another text")
    return Pair(tmp_path)


def looking(answer: Callable[[bool, str], Looked | Failure | None]) -> Callable[[FakeWorker, Any], Any]:
    """Return a script that answers looks: ``answer`` is given whether it is head that is looked at, and the key."""

    def script(worker: FakeWorker, request: Any) -> Any:
        return answer("/head/" in worker.side, request.key) if isinstance(request, Look) else None

    return script


def test_two_commits_that_differ_in_a_document_are_measured_in_a_sample(pair: Pair) -> None:
    found = pair.identity()
    assert found is not None
    assert found.differences == []
    assert len(found.sample) == 1
    assert set(found.unmeasured) == set(KEYS) - set(found.sample)
    assert list(found.same) == [
        "machine code", "Python sources", "other files of the build", "suite", "packages", "environment",
    ]  # fmt: skip
    assert pair.said == ["nothing that runs differs: looking at what 9 of 10 cells compile"]
    assert [look.check for look in pair.server.requests(Look)] == [True] * 9 + [False] * 9


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ("wheel/op/code.so", "machine code: op/code.so"),
        ("wheel/op/__init__.py", "Python sources: op/__init__.py"),
        ("wheel/op/table.json", "other files of the build: op/table.json"),
        ("wheel/op/new.json", "other files of the build: op/new.json"),
        ("home/benchmarks/__init__.py", "suite: __init__.py"),
        ("home/benchmarks/shapes.txt", "suite: shapes.txt"),
    ],
)
@pytest.mark.parametrize("side", ["head", "base"])
def test_any_file_that_runs_makes_everything_measured(pair: Pair, changed: str, difference: str, side: str) -> None:
    path = pair.folder / side / changed
    path.write_text((path.read_text() if path.exists() else "") + "#")
    found = pair.identity()
    assert found is not None
    assert (found.differences, found.unmeasured, found.sample) == ([difference], {}, [])
    assert pair.server.workers == [], "nothing is looked at where all is measured"


def test_many_differences_are_counted(pair: Pair) -> None:
    for number in range(5):
        (pair.folder / "head/wheel/op" / f"{number}.py").write_text("")
    found = pair.identity()
    assert found is not None
    assert found.differences == ["Python sources: op/0.py, op/1.py, op/2.py and 2 more"]


def test_files_beside_the_suite_count_when_a_benchmark_reads_them(pair: Pair) -> None:
    (pair.folder / "base/home/data/weights.txt").write_text("4 5 6")
    assert len(pair.unmeasured()) == 9
    read = ["benchmarks/shapes.txt", "data/weights.txt"]
    pair.server.script = looking(lambda head, key: Looked(caches=None, read=read))
    found = pair.identity()
    assert found is not None
    assert (found.differences, found.unmeasured) == (["files that the suite reads: data/weights.txt"], {})
    shutil.copy(pair.folder / "head/home/data/weights.txt", pair.folder / "base/home/data/weights.txt")
    found = pair.identity()
    assert found is not None
    assert len(found.unmeasured) == 9
    assert "files that the suite reads" in found.same


def test_a_file_that_only_one_commit_has_makes_a_difference(pair: Pair) -> None:
    (pair.folder / "base/home/data/weights.txt").unlink()
    pair.server.script = looking(lambda head, key: Looked(caches=None, read=["data/weights.txt"]))
    assert pair.unmeasured() == {}


@pytest.mark.parametrize(
    ("head", "base", "same"),
    [(None, None, True), ("a", "a", True), ("a", "b", False), (None, "b", False), ("a", None, False)],
)
def test_what_is_compiled_and_tuned_must_be_the_same(
    pair: Pair, head: str | None, base: str | None, same: bool
) -> None:
    sample = pair.identity().sample  # type: ignore[union-attr]
    special = next(key for key in KEYS if key not in sample)
    pair.server.script = looking(
        lambda of_head, key: Looked(caches=head if of_head else base, read=[]) if key == special else None
    )
    left = pair.unmeasured()
    assert (special in left) is same
    assert left.get(special) == (head if same else None)
    assert len(left) == 9 - (not same)


def test_caches_of_a_look_are_empty_in_one_place_and_tuning_leaves_a_trace_in_them(pair: Pair) -> None:
    stale = pair.folder / "caches/look/triton/stale"
    stale.parent.mkdir(parents=True)
    stale.write_text("of an earlier run")
    environments: list[dict[str, str]] = []
    fork = pair.server.fork
    pair.server.fork = lambda path, environment, **more: (  # type: ignore[method-assign]
        environments.append(dict(environment)), fork(path, environment, **more),
    )[1]  # fmt: skip
    pair.identity()
    assert not stale.exists()
    assert {one["TRITON_CACHE_AUTOTUNING"] for one in environments} == {"1"}
    assert len({one["TRITON_CACHE_DIR"] for one in environments}) == 1, "paths are written into caches"


@pytest.mark.parametrize("of_head", [True, False])
def test_a_cell_that_fails_is_measured_and_so_are_those_after_it(pair: Pair, of_head: bool) -> None:
    sample = pair.identity().sample  # type: ignore[union-attr]
    left = [key for key in KEYS if key not in sample]
    pair.server.script = looking(lambda head, key: DIED if head is of_head and key == left[4] else None)
    assert list(pair.unmeasured()) == left[:4]
    assert [worker for worker in pair.server.workers if worker.alive] == []


def test_a_cell_with_a_floor_is_measured(pair: Pair) -> None:
    pair.config = Config(cells=[CellOverride(match="*(3)", sol_floor=0.5)], identical_sample=0)
    pair.infos = cells(*KEYS[:5])
    found = pair.identity()
    assert found is not None
    assert KEYS[3] not in [*found.unmeasured, *found.sample]
    assert (len(found.unmeasured), len(found.sample)) == (3, 1)


def test_environments_run_alone_and_measure_all_leave_nothing_out(pair: Pair) -> None:
    assert pair.identity(measure_all=True) is None
    assert pair.identity(base=False) is None
    found = pair.identity(env=Environment(path="/a", python="3.11"))
    assert found == Identity(same={}, differences=["the sides are measured in environments of their own"])


def test_a_sample_of_everything_looks_at_nothing(pair: Pair) -> None:
    pair.config = Config(identical_sample=1)
    found = pair.identity()
    assert found is not None
    assert (found.unmeasured, sorted(found.sample)) == ({}, KEYS)
    assert pair.server.workers == []


@pytest.mark.parametrize(("share", "wanted"), [(0, 1), (0.1, 1), (0.11, 2), (0.3, 3), (0.7, 7), (1, 10)])
def test_the_sample_is_a_share_and_never_empty(share: float, wanted: int) -> None:
    asked = [(cell, True) for cell in cells(*KEYS)]
    assert len(set(drawn(asked, share, seed=1))) == wanted
    assert drawn(asked, share, seed=1) == drawn(asked, share, seed=1)


def test_the_seed_draws_and_every_cell_has_its_turn() -> None:
    asked = [(cell, True) for cell in cells(*KEYS)]
    assert {drawn(asked, 0.1, seed)[0] for seed in range(200)} == set(KEYS)


def test_a_gated_cell_is_always_drawn() -> None:
    asked = [(cell, cell.key == KEYS[5]) for cell in cells(*KEYS)]
    assert all(drawn(asked, 0.1, seed) == [KEYS[5]] for seed in range(20))
    assert len(drawn([(cell, False) for cell in cells(*KEYS)], 0, seed=1)) == 1
