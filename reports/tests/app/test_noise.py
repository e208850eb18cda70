"""The noise of cards: rows of a gate of a commit against itself, kept once, and not for ever."""

from pathlib import Path

import msgspec
import pytest
from fakes.corpora import corpus, write
from fakes.records import CPU, CPU_CEILINGS, FakeCell, commit, record

from solwatch.app.noise import MOST_ROWS, NOISE, add_noise, joined_noise, kept_noise, noise_rows
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.model.errors import ExitCode, NothingMeasuredError, RequestError
from solwatch.model.history import NoiseRow
from solwatch.model.record import GpuIdentity, Record
from solwatch.workspace.records import RecordWriter

SAME = commit("9a7e5eed00", "main", "Keep the residual tile in registers")
CELLS = [FakeCell(key="a", spread=0.002), FakeCell(key="b", spread=0.02)]


def aa(**options: object) -> Record:
    return record(CELLS, **({"rounds": 40, "head": SAME, "base": SAME} | options))  # type: ignore[arg-type]


def written(path: Path, made: Record) -> Path:
    with RecordWriter.create(path, made.header) as writer:
        for completed in made.rounds:
            writer.append(completed)
    return path


def test_a_row_says_the_spread_between_rounds_of_a_cell_on_a_card() -> None:
    rows = {row.cell: row for row in noise_rows(aa())}
    assert set(rows) == {"a", "b", NULL_KERNEL}
    assert rows["a"].spread == pytest.approx(0.002 * 2**0.5, rel=0.4)
    assert rows["b"].spread == pytest.approx(0.02 * 2**0.5, rel=0.4)
    assert rows["a"].null_s == pytest.approx(3.32e-6, rel=0.05)
    assert (rows["a"].card, rows["a"].model, rows["a"].rounds) == ("GPU-0f1e2d3c", "NVIDIA H200", 40)
    assert (rows["a"].taken_at, rows["a"].machine) == ("2026-03-04T05:00:00Z", "gpu-runner-3")


def test_each_card_of_a_gate_over_several_has_its_rows() -> None:
    made = aa()
    header = msgspec.structs.replace(
        made.header, gpus=[GpuIdentity(index=0, uuid="GPU-zero"), GpuIdentity(index=1, uuid=None)]
    )
    rounds = [msgspec.structs.replace(each, gpu=each.index % 2) for each in made.rounds]
    rows = [row for row in noise_rows(msgspec.structs.replace(made, header=header, rounds=rounds)) if row.cell == "a"]
    assert [(row.card, row.rounds) for row in rows] == [("GPU-zero", 20), ("GPU-0f1e2d3c", 20)]


def test_a_cpu_goes_by_its_model_and_a_cell_with_too_few_rounds_has_no_row() -> None:
    made = aa(fingerprint=CPU, ceilings=CPU_CEILINGS, rounds=3)
    assert {row.card for row in noise_rows(made)} == {CPU.model}
    assert noise_rows(aa(rounds=2)) == []


def test_a_record_that_is_added_twice_is_kept_once(tmp_path: Path) -> None:
    path = written(tmp_path / "aa.jsonl", aa())
    rows = add_noise(path, tmp_path)
    before = (tmp_path / NOISE).read_bytes()
    add_noise(path, tmp_path)
    assert (tmp_path / NOISE).read_bytes() == before
    assert sorted(kept_noise(tmp_path), key=lambda row: row.cell) == sorted(rows, key=lambda row: row.cell)


def test_the_rounds_of_a_calibration_serve_as_well(tmp_path: Path) -> None:
    made = corpus(CELLS, rounds=20)
    same = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, base=made.header.head))
    rows = {row.cell: row for row in add_noise(write(tmp_path / "a.rounds.jsonl", same), tmp_path)}
    assert rows["a"].rounds == 20
    assert rows["b"].spread > 5 * rows["a"].spread
    with pytest.raises(RequestError, match="is not of a commit against itself"):
        add_noise(write(tmp_path / "planted.jsonl", made), tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {"head": commit("4be1c0ffee", "HEAD", "another")},
        {"alone": True},
        {"head": msgspec.structs.replace(SAME, dirty=True, build="another")},
    ],
)
def test_a_gate_of_two_commits_says_nothing_of_noise(tmp_path: Path, options: dict[str, object]) -> None:
    path = written(tmp_path / "gate.jsonl", aa(**options))
    with pytest.raises(RequestError, match="is not of a commit against itself"):
        add_noise(path, tmp_path)
    assert not (tmp_path / NOISE).exists()


def test_a_record_without_rounds_has_nothing_to_keep(tmp_path: Path) -> None:
    with pytest.raises(NothingMeasuredError, match="has no cell with 3 rounds that count") as raised:
        add_noise(written(tmp_path / "aa.jsonl", aa(rounds=1)), tmp_path)
    assert raised.value.exit_code is ExitCode.UNDECIDED


def test_a_file_that_is_not_of_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / NOISE).write_text("{}\n")
    with pytest.raises(RequestError, match=r"noise.jsonl: line 1 is not a NoiseRow .*move it away"):
        kept_noise(tmp_path)


def row(day: int, cell: str = "a", spread: float = 0.003) -> NoiseRow:
    return NoiseRow(taken_at=f"{day:06d}", machine="m", card="c", model="x", cell=cell, rounds=9, spread=spread)


def test_only_the_newest_rows_of_a_cell_are_kept_in_whatever_order_they_come() -> None:
    rows = [row(day) for day in range(MOST_ROWS + 50)]
    for first, second in ((rows, [row(0, "b")]), ([row(0, "b")], rows[::-1]), ([*rows[:300], row(0, "b")], rows[200:])):
        assert joined_noise(first, second) == [*rows[50:], row(0, "b")]
