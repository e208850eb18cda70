"""asv's history as a curve: which commit is the best, and what of a results folder counts."""

import random
from pathlib import Path

import pytest

from solwatch.asvio.history import CellTimes, best_commit, times_by_commit
from solwatch.asvio.resultfiles import Description, Measured, Samples, write_results
from solwatch.model.errors import MachineError

SHAS = [f"{index:08x}" * 5 for index in range(1, 41)]
MACHINE = {"machine": "runner", "os": "Linux", "arch": "x86_64", "cpu": "c", "num_cpu": "2", "ram": "1"}
A, B, C = ((name, ()) for name in "abc")


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def described(name: str, unit: str = "seconds", version: str = "1") -> Description:
    return Description(name=name, params=[["1", "16"]], param_names=["n"], type="time", unit=unit, version=version)


def save(folder: Path, sha: str, seconds: float, *descriptions: Description) -> None:
    measured = Measured(machine=MACHINE, commit=sha, date_ms=1_700_000_000_000, python="3.11")
    values = {each.name: {("1",): Samples([seconds] * 3), ("16",): None} for each in descriptions}
    write_results(folder, measured, descriptions, values, write=put)


def steps(*levels: tuple[int, float]) -> dict[str, CellTimes]:
    """Return times of successive commits: so many at each level, with noise of 0.2 %."""
    dice = random.Random(5)
    heights = [level for count, level in levels for _ in range(count)]
    return {
        sha: {A: 1e-6 * height * dice.gauss(1, 0.002), B: 5.0 * height * dice.gauss(1, 0.002)}
        for sha, height in zip(SHAS, heights, strict=False)
    }


def test_the_newest_commit_of_the_lowest_segment_is_the_best() -> None:
    assert best_commit(SHAS, steps((10, 1.0), (10, 0.9), (10, 0.95))) == SHAS[19]
    assert best_commit(SHAS, steps((10, 0.9), (10, 1.0))) == SHAS[9]
    assert best_commit(SHAS, steps((20, 1.0))) == SHAS[19]


def test_one_lucky_commit_is_no_segment() -> None:
    times = steps((10, 1.0), (1, 0.995), (9, 1.0))
    assert best_commit(SHAS, times) == SHAS[19]


def test_a_cell_counts_by_what_it_changed_not_by_how_long_it_takes() -> None:
    times: dict[str, CellTimes] = {SHAS[0]: {A: 1e-6, B: 1.0, C: 1.0}}
    times |= {SHAS[index]: {A: 0.5e-6, B: 1.01, C: 1.01} for index in range(1, 8)}
    times |= {SHAS[index]: {A: 1e-6, B: 1.0, C: 1.0} for index in range(8, 15)}
    assert best_commit(SHAS, times) == SHAS[7]


def test_a_commit_with_few_of_the_cells_says_nothing() -> None:
    times = steps((10, 1.0))
    times = {sha: {**each, C: 1.0} for sha, each in times.items()} | {SHAS[10]: {A: 0.5e-6}}
    assert best_commit(SHAS, times) == SHAS[9]


def test_commits_outside_the_history_are_not_chosen() -> None:
    times = steps((5, 1.0), (5, 0.5))
    assert best_commit(SHAS[:5], times) == SHAS[4]
    assert best_commit([], times) is None
    assert best_commit(SHAS[20:], times) is None
    assert best_commit(SHAS, {SHAS[3]: {A: 1.0}}) == SHAS[3]


def test_times_in_seconds_of_this_machine_and_version_are_read(tmp_path: Path) -> None:
    assert times_by_commit(tmp_path, "runner", SHAS) == {}
    save(tmp_path, SHAS[0], 1.0, described("t"), described("m", unit="bytes"))
    save(tmp_path, SHAS[1], 2.0, described("t"))
    save(tmp_path, SHAS[2], 3.0, described("t"))
    assert times_by_commit(tmp_path, "runner", SHAS[:2]) == {
        SHAS[0]: {("t", ("1",)): 1.0}, SHAS[1]: {("t", ("1",)): 2.0},
    }  # fmt: skip
    assert times_by_commit(tmp_path, "another", SHAS) == {}
    save(tmp_path, SHAS[3], 4.0, described("t", version="2"))
    assert list(times_by_commit(tmp_path, "runner", SHAS)) == [SHAS[3]]


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"version": 2}', "[" * 100_000, '{"version": 2, "results": 3}'])
def test_a_file_that_is_not_asvs_is_left_out(tmp_path: Path, text: str) -> None:
    save(tmp_path, SHAS[0], 1.0, described("t"))
    (tmp_path / "runner" / f"{SHAS[1][:8]}-x.json").write_text(text)
    assert list(times_by_commit(tmp_path, "runner", SHAS)) == [SHAS[0]]


@pytest.mark.parametrize(
    "text", ["{", "[1]", '{"version": 1}', '{"version": 2, "t": 3}', '{"version": 2, "t": {"unit": "seconds"}}']
)
def test_a_list_of_benchmarks_that_is_not_asvs_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "benchmarks.json").write_text(text)
    with pytest.raises(MachineError, match=r"benchmarks\.json (is not|has)"):
        times_by_commit(tmp_path, "runner", SHAS)
