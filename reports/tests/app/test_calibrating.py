"""Calibrations: real rounds of a toy on the CPU, recorded rounds of a GPU, rounds that don't fit."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fakes.records import FakeCell, commit
from fakes.records import record as fake_record

from solwatch.app import calibrating
from solwatch.app.calibrating import Calibrated, calibrate, calibrate_from
from solwatch.app.session import Request
from solwatch.judge.calibration import calibrated_cells
from solwatch.model.cell import CellSelection
from solwatch.model.errors import NothingMeasuredError, RequestError
from solwatch.model.record import Record
from solwatch.render.schemas import published_schema
from solwatch.workspace.corpus import read_corpus
from solwatch.workspace.settings import load_config

AA = Path(__file__).parents[1] / "corpus" / "2026-11-30-aa.jsonl"


@pytest.fixture(autouse=True)
def few_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating, "calibrated_cells", lambda found: calibrated_cells(found, gates=50))


def calibrated(
    toy: Any, *, rounds: int = 8, budget_s: float | None = None, on_cell: Callable[[str], None] = lambda key: None
) -> Calibrated:
    request = Request(
        command="solwatch calibrate",
        head="HEAD",
        base="HEAD",
        device="cpu",
        selection=CellSelection("all"),
        config=load_config(toy.root, {}),
        seed=1,
    )
    return calibrate(request, toy.services(toy.progress(on_cell)), rounds=rounds, budget_s=budget_s)


@pytest.mark.slow
def test_every_cell_is_measured_in_every_round_and_the_file_obeys_its_schema(toy: Any) -> None:
    done = calibrated(toy)
    assert done.path.parent == toy.root / "build" / "solwatch" / "calibrations"
    kept = read_corpus(done.rounds_path)
    assert (kept.header.label, kept.header.occasion) == ("a/a", "calibration")
    assert [len(each.order) for each in kept.rounds] == [2] * 8
    document = json.loads(done.path.read_text())
    jsonschema.Draft202012Validator(json.loads(published_schema("calibration"))).validate(document)
    assert [cell.key for cell in done.calibration.cells] == ["toy_suite.Toy(8)", "toy_suite.Toy(16)"]
    for cell in done.calibration.cells:
        assert (cell.rounds, cell.min_effect, cell.problem) == (8, 0.1, None)
    again = calibrate_from(done.rounds_path)
    assert again.path == done.path
    assert again.calibration == done.calibration


@pytest.mark.slow
def test_rounds_that_are_interrupted_are_named_and_too_few_say_nothing(toy: Any) -> None:
    seen: list[str] = []

    def interrupt_in_the_third_round(key: str) -> None:
        seen.append(key)
        if len(seen) == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        calibrated(toy, on_cell=interrupt_in_the_third_round)
    (path,) = (toy.root / "build" / "solwatch" / "calibrations").glob("*.jsonl")
    assert f"{path} keeps 2 rounds: solwatch calibrate --rounds-of {path} uses them" in toy.said
    with pytest.raises(NothingMeasuredError, match=r"2 usable rounds, 8 are needed\): measure 8 rounds or more"):
        calibrate_from(path)


def test_recorded_rounds_of_a_gpu(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    shutil.copy(AA, path)
    done = calibrate_from(path)
    assert done.path == tmp_path / "mine.calibration.json"
    by_key = {cell.key: cell for cell in done.calibration.cells}
    assert len(by_key) == 13
    for key, cell in by_key.items():
        if key != "null_kernel":
            assert cell.holds is not None
            assert 0.002 <= cell.holds <= 0.015
            assert not cell.two_modes
    assert sum(cell.honest for cell in by_key.values()) >= 10
    assert not by_key["null_kernel"].honest


def test_rounds_of_two_builds_are_no_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replayed(path: Path) -> Record:
        return fake_record([FakeCell(key="a")], head=commit("aa", "HEAD", "x"), base=commit("bb", "main", "y"))

    monkeypatch.setattr(calibrating, "replayed", replayed)
    with pytest.raises(RequestError, match="rounds of two different builds"):
        calibrate_from(tmp_path / "a.jsonl")
