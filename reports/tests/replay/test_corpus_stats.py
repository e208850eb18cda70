"""The figures over a corpus, on rounds whose answer is known."""

import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.corpora import corpus, write
from fakes.records import FakeCell

from solwatch.app.condensing import condensed, record_of
from solwatch.judge.series import rounds_by_cell, series
from solwatch.model.corpus import Corpus
from solwatch.model.record import Block, CellRound, Round, Side

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "corpus_stats.py"


def with_offsets(made: Corpus, launches: int) -> Corpus:
    """Return a corpus whose sides differ in nothing but the time of a launch, drawn anew for each process."""
    dice = random.Random(5)

    def side() -> Side:
        null_s = 3.3e-6 + dice.gauss(0, 50e-9)
        time_s = 20e-6 + launches * (null_s - 3.3e-6)
        return Side(blocks=[Block(samples_s=[time_s], null_s=[null_s], number=1, timer="held", launches=launches)] * 4)

    rounds = [
        Round(
            index=index,
            head_slot=index % 2,
            started_at="then",
            wall_s=2.0,
            opening_s=0.5,
            cells=[CellRound(key=cell.key, head=side(), base=side()) for cell in made.header.cells],
        )
        for index in range(30)
    ]
    return msgspec.structs.replace(made, rounds=[condensed(each, made.header.cells) for each in rounds])


@pytest.fixture
def stats(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import corpus_stats

    return corpus_stats


@pytest.mark.parametrize("launches", [1, 3])
def test_the_correction_takes_away_what_a_launch_adds(stats: Any, launches: int) -> None:
    record = record_of(with_offsets(corpus([FakeCell(key="a")], rounds=1), launches))
    rounds = rounds_by_cell(record)["a"]
    found = stats.cell_stats("a", series(rounds))
    # two sides of 50 ns each, in 20 µs: sqrt(2) x 0.25 %, give or take what 30 rounds can tell
    assert found.raw.spread == pytest.approx(math.sqrt(2) * launches * 50e-9 / 20e-6, rel=0.3)
    assert found.corrected.spread < 2e-5
    assert found.follows_null > 0.99
    assert (found.raw.count, found.base_s) == (30, pytest.approx(20e-6, rel=0.01))


def test_without_a_null_kernel_or_a_count_nothing_is_corrected(stats: Any) -> None:
    record = record_of(corpus([FakeCell(key="a", launches=None)], rounds=4))
    rounds = rounds_by_cell(record)["a"]
    found = stats.cell_stats("a", series(rounds))
    assert found.corrected is None
    assert found.raw.count == 4
    assert stats.correlation([1.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0]) is None


def test_the_script_shows_a_line_for_each_cell_and_one_line_for_what_is_no_corpus(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", with_offsets(corpus([FakeCell(key="a"), FakeCell(key="b")], rounds=1), 1))
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.startswith(
        "a.jsonl: a/a, made for a test, 30 rounds, 2.00 s a round, a pair opened in 0.50 s, head in"
    )
    assert sum("µs" in line for line in rest) == 3  # two cells and the null kernel
    path.write_text("notes\n")
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
