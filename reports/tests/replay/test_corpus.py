"""Recorded rounds through the judge: noise calls nothing slower, and a planted slowdown points the right way.

The files of ``reports/tests/corpus`` come from real GPUs; the ones made here show that the replay can tell.
"""

import math
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from fakes.corpora import corpus, write
from fakes.records import FakeCell

from solwatch.app.condensing import replayed
from solwatch.judge.judging import judge
from solwatch.judge.series import log_ratios, rounds_by_cell, series
from solwatch.model.record import Record
from solwatch.model.verdict import Verdict
from solwatch.workspace.corpus import read_corpus

RECORDED = sorted((Path(__file__).parent.parent / "corpus").glob("*.jsonl"))
PLANTED = re.compile(r"planted ([\d.]+) %")


def made(folder: Path, label: str, ratio: float, *, rounds: int = 48) -> Path:
    cells = [FakeCell(key=f"o_proj.OProj({n})", base_s=n * 1e-6, ratio=ratio) for n in (5, 20, 80)]
    return write(folder / f"{label.replace('/', '-')}.jsonl", corpus(cells, label=label, rounds=rounds))


def gates(record: Record) -> Iterator[Record]:
    """Yield the gates that the rounds would have been, each as long as the last look."""
    length = max(record.header.config.rounds)
    for first in range(0, len(record.rounds) - length + 1, length):
        yield msgspec.structs.replace(record, rounds=record.rounds[first : first + length])


def slower_cells(record: Record) -> list[str]:
    found = []
    for number, gate in enumerate(gates(record)):
        found += [f"gate {number}: {cell.key}" for cell in judge(gate).verdicts if cell.verdict is Verdict.SLOWER]
    return found


def mean_log_ratios(record: Record) -> dict[str, float]:
    """Return the mean over all rounds of log(head / base) for each gated cell that has one."""
    gated = {cell.key for cell in record.header.cells if cell.gated}
    ratios = {key: log_ratios(series(rounds)) for key, rounds in rounds_by_cell(record).items() if key in gated}
    return {key: math.fsum(values) / len(values) for key, values in ratios.items() if values}


def long_cells(record: Record) -> set[str]:
    """Return the gated cells whose calls take 50 µs and more."""
    gated = {cell.key for cell in record.header.cells if cell.gated}
    times_s = {
        key: [fact.base_s for fact in series(rounds) if fact.base_s is not None]
        for key, rounds in rounds_by_cell(record).items()
        if key in gated
    }
    return {key for key, base_s in times_s.items() if base_s and statistics.fmean(base_s) >= 50e-6}


def check(path: Path) -> None:
    """Check a file for what its label promises."""
    label, record = read_corpus(path).header.label, replayed(path)
    assert record.rounds
    planted = PLANTED.fullmatch(label)
    if planted is None:
        assert label == "a/a" or label.startswith("neutral"), f"{path.name}: nothing is known of label {label!r}"
        assert slower_cells(record) == []
        return
    means = mean_log_ratios(record)
    assert means
    assert {key: mean for key, mean in means.items() if mean <= 0} == {}
    # The delay is a share of the kernel's own time: of a long one that is nearly all of the time.
    size = float(planted[1]) / 100
    long_ones = long_cells(record)
    assert {key: means[key] for key in long_ones if not 0.65 * size < means[key] < 1.2 * size} == {}
    if size >= 2 * record.header.config.min_effect_cuda:
        for gate in gates(record):
            slower = {cell.key for cell in judge(gate).verdicts if cell.verdict is Verdict.SLOWER}
            assert long_ones - slower == set()


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_a_recorded_file_keeps_the_promise_of_its_label(path: Path) -> None:
    check(path)


@pytest.mark.parametrize(("label", "ratio"), [("a/a", 1.0), ("neutral: renamed symbol", 1.0), ("planted 1 %", 1.01)])
def test_a_made_file_keeps_the_promise_of_its_label(tmp_path: Path, label: str, ratio: float) -> None:
    check(made(tmp_path, label, ratio))


@pytest.mark.parametrize(("label", "ratio"), [("a/a", 1.03), ("planted 1 %", 0.99), ("something else", 1.0)])
def test_a_file_that_breaks_its_promise_is_found(tmp_path: Path, label: str, ratio: float) -> None:
    path = made(tmp_path, label, ratio)
    with pytest.raises(AssertionError):
        check(path)


def test_rounds_are_replayed_as_gates_of_the_length_of_the_last_look(tmp_path: Path) -> None:
    lengths = [len(gate.rounds) for gate in gates(replayed(made(tmp_path, "a/a", 1.0, rounds=60)))]
    assert lengths == [24, 24]
