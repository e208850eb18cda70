"""Selftests: the scratch project's gates by script, then one from end to end on the CPU, one on a GPU."""

import json
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from fakes.records import CPU, CPU_CEILINGS, FakeCell, record

from solwatch.app import selftest as module
from solwatch.app.clock import SystemClock
from solwatch.app.outcome import Kept, Outcome
from solwatch.app.selftest import SIZES_FILE, Asked, selftest
from solwatch.app.session import Request, Services
from solwatch.device.resolving import visible_gpus
from solwatch.judge.judging import judge
from solwatch.judge.selftest import Answer
from solwatch.model.errors import ExitCode, MachineError, RequestError
from solwatch.model.record import RecordEnd
from solwatch.render.schemas import published_schema
from solwatch.workspace.export import export
from solwatch.workspace.git import Repository

PLANTED = {"none": 0.0, "margin": 0.03, "slight": 0.125, "double": 0.2, "fivefold": 0.5}


class SilentProgress:
    def round(self, index: int) -> None:
        """Show nothing."""

    def cell(self, key: str) -> None:
        """Show nothing."""

    def __enter__(self) -> "SilentProgress":
        return self

    def __exit__(self, *error: object) -> None:
        """Leave nothing behind."""


def services_in(repository: Repository) -> Services:
    return Services(
        repository=repository,
        clock=SystemClock(),
        environment=dict(os.environ),
        machine="a machine",
        say=lambda line: None,
        progress=lambda total, budget: SilentProgress(),
    )


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a folder of temporary ones; the selftest's own must be gone at the end."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


class Gates:
    """Stands for ``compare``: keeps what it was asked, answers with the true ratio of each size in each gate."""

    def __init__(self, ratio: Callable[[int, str], float], spread: float) -> None:
        self.requests: list[Request] = []
        self.sources: list[list[str]] = []
        self._ratio = ratio
        self._spread = spread

    def __call__(self, request: Request, services: Services) -> Outcome:
        root = services.repository.root
        self.requests.append(request)
        number = len(self.requests)
        sources = []
        for name in (request.base, request.head):
            assert name is not None
            export(services.repository, services.repository.resolve(name), root / f"out-{number}" / name)
            sources.append((root / f"out-{number}" / name / SIZES_FILE).read_text())
        self.sources.append(sources)
        cells = [
            FakeCell(
                key=f"known_work.Cpu('{size}', 'long')",
                base_s=1e-3,
                ratio=self._ratio(number, size),
                spread=self._spread,
            )
            for size in PLANTED
        ]
        taken = record(cells, rounds=36, config=request.config, fingerprint=CPU, ceilings=CPU_CEILINGS)
        for at, size in enumerate(PLANTED):
            taken.header.cells[at] = msgspec.structs.replace(taken.header.cells[at], params=[f"'{size}'", "'long'"])
        taken = msgspec.structs.replace(taken, end=RecordEnd(stopped="decided", wall_s=30.0))
        return Outcome(record=taken, judgement=judge(taken), kept=Kept(report=None, record=root, warnings=[]))


def scripted(monkeypatch: pytest.MonkeyPatch, ratio: Callable[[int, str], float], spread: float = 0.003) -> Gates:
    gates = Gates(ratio, spread)
    monkeypatch.setattr(module, "compare", gates)
    return gates


def as_planted(gate: int, size: str) -> float:
    return 1 + (PLANTED[size] if gate == 2 else 0.0)


def asked(**options: Any) -> Asked:
    return Asked(command="solwatch selftest", device="cpu", seed=5, **options)


def test_gates_equal_builds_then_known_slowdowns(monkeypatch: pytest.MonkeyPatch, folders: Path) -> None:
    gates = scripted(monkeypatch, as_planted)
    found = selftest(asked(budget_s=90.0), services_in)
    same, planted = gates.requests
    assert same.base == planted.base
    assert len({same.base, same.head, planted.head}) == 3
    assert (same.seed, planted.seed) == (5, 5)
    assert (same.config.budget_s, planted.config.budget_s) == (30.0, 60.0)
    (base, equal), (_, slower) = gates.sources
    assert base != equal
    said: list[dict[str, Any]] = [{}, {}, {}]
    for text, names in zip((base, equal, slower), said, strict=True):
        exec(text, names)
    assert said[0]["SLOWDOWNS"] == said[1]["SLOWDOWNS"] == dict.fromkeys(PLANTED, 0.0)
    assert said[2]["SLOWDOWNS"] == pytest.approx(PLANTED)
    assert {cell.key.split("'")[1]: cell.planted for cell in found.planted.cells if "'" in cell.key} == pytest.approx(
        PLANTED
    )
    assert all(cell.planted == 0 for cell in found.same.cells)
    assert found.exit_code == ExitCode.OK
    assert list(folders.glob("solwatch-selftest-*")) == []


def test_a_noisy_machine_claims_less_and_is_held_to_that(monkeypatch: pytest.MonkeyPatch) -> None:
    gates = scripted(monkeypatch, lambda gate, size: 1 + (gate == 2) * 2 * PLANTED[size], spread=0.04)
    monkeypatch.setattr(module, "held_min_effect", lambda *arguments, **options: 0.2)
    found = selftest(asked(), services_in)
    assert (found.usual_min_effect, found.min_effect) == (0.1, 0.2)
    same, planted = gates.requests
    assert (same.config.min_effect, planted.config.min_effect) == (None, 0.2)
    assert sorted({cell.planted for cell in found.planted.cells}) == pytest.approx([0, 0.06, 0.25, 0.4, 1.0])
    assert {cell.min_effect for cell in found.planted.cells} == {0.2}
    assert found.exit_code == ExitCode.OK


def test_what_a_wrong_machine_does_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, lambda gate, size: 1.2 if (gate, size) == (1, "none") else as_planted(gate, size))
    found = selftest(asked(), services_in)
    assert [cell.answer for cell in found.wrong] == [Answer.ALARM]
    assert found.exit_code == ExitCode.UNTRUSTED


def test_everything_is_kept_below_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scripted(monkeypatch, as_planted)
    output = tmp_path / "kept" / "here"
    found = selftest(asked(output=output), services_in)
    document = json.loads((output / "selftest.json").read_text())
    jsonschema.Draft202012Validator(json.loads(published_schema("selftest"))).validate(document)
    assert len(document["planted"]["cells"]) == len(found.planted.cells)
    assert (output / "project" / "solwatch.toml").exists()
    with pytest.raises(RequestError, match="is not empty: give --output a folder of its own"):
        selftest(asked(output=output), services_in)


@pytest.mark.parametrize("rounds", [False, True], ids=["nothing measured", "rounds measured"])
def test_a_run_that_fails_leaves_its_rounds_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, folders: Path, rounds: bool
) -> None:
    def fails(request: Request, services: Services) -> Outcome:
        if rounds:
            (services.repository.root / request.config.records / "records").mkdir(parents=True)
        raise MachineError("the GPU fell off the bus")

    monkeypatch.setattr(module, "compare", fails)
    with pytest.raises(MachineError, match="fell off"):
        selftest(asked(), services_in)
    assert len(list(folders.glob("solwatch-selftest-*"))) == rounds


@pytest.mark.slow
def test_from_end_to_end_on_a_cpu_nothing_is_wrong(folders: Path) -> None:
    found = selftest(asked(budget_s=24.0), services_in)
    assert found.wrong == []
    assert found.exit_code in (ExitCode.OK, ExitCode.UNDECIDED)
    assert len(found.same.cells) == len(found.planted.cells) == 10
    largest = [cell for cell in found.planted.cells if cell.planted == 5 * found.min_effect]
    assert [cell.expected for cell in largest] == pytest.approx([5 * found.min_effect] * 2, rel=0.01)
    # Two cells, perhaps one round on a busy machine: that at least half as much again was done must show all the same.
    assert math.prod(cell.ratio.point for cell in largest if cell.ratio) > 1.2
    assert list(folders.glob("solwatch-selftest-*")) == []


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.skipif(visible_gpus() == 0, reason="no GPU")
def test_a_gpu_passes_within_five_minutes() -> None:
    found = selftest(Asked(command="solwatch selftest", device="cuda", seed=5), services_in)
    assert found.wrong == []
    assert found.exit_code == ExitCode.OK
    assert found.same.wall_s + found.planted.wall_s < 270
