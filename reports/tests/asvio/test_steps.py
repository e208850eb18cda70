"""Steps along a history whose levels are known."""

import math
import random
from pathlib import Path

import pytest
from fakes.histories import LLAMA, save

from solwatch.asvio.steps import cell_steps
from solwatch.model.errors import MachineError
from solwatch.model.history import CellStep

CELL = ("16", "'llama'")


def shas(count: int) -> list[str]:
    return [f"{index:08x}" + "0" * 32 for index in range(count)]


def levels(folder: Path, values: list[float], machine: str = "runner") -> None:
    for sha, value in zip(shas(len(values)), values, strict=True):
        if not math.isnan(value):
            save(folder, sha, {CELL: [value]}, machine)


def found(folder: Path, count: int, least: float = 0.02) -> dict[str, list[CellStep]]:
    said: list[str] = []
    order = {sha: position for position, sha in enumerate(shas(count))}
    steps, _ = cell_steps(folder, order, least_change=least, say=said.append)
    assert said == []
    return steps


def noisy(level: float, count: int, seed: int) -> list[float]:
    dice = random.Random(seed)
    return [level * math.exp(dice.gauss(0, 0.002)) for _ in range(count)]


def test_a_step_is_found_where_it_is(tmp_path: Path) -> None:
    levels(tmp_path, [*noisy(10e-6, 12, 1), *noisy(10.5e-6, 8, 2)])
    (step,) = found(tmp_path, 20)["runner"]
    assert (step.cell, step.benchmark, step.unit) == (LLAMA, "o_proj.OProj.track_time", "seconds")
    assert (step.good, step.bad) == (shas(12)[11], shas(13)[12])
    assert step.slowdown_ratio == pytest.approx(1.05, abs=0.003)
    assert (step.latest, step.results) == (step.after, (12, 8))


def test_commits_without_results_widen_the_range(tmp_path: Path) -> None:
    levels(tmp_path, [*noisy(10e-6, 8, 1), *[math.nan] * 4, *noisy(9e-6, 8, 2)])
    (step,) = found(tmp_path, 20)["runner"]
    assert (step.good, step.bad) == (shas(8)[7], shas(13)[12])
    assert step.slowdown_ratio == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("seed", range(6))
def test_noise_alone_has_no_steps(tmp_path: Path, seed: int) -> None:
    levels(tmp_path, noisy(10e-6, 30, seed))
    assert found(tmp_path, 30) == {}


def test_a_lone_outlier_is_no_step_and_neither_is_one_below_the_threshold(tmp_path: Path) -> None:
    levels(tmp_path, [*noisy(10e-6, 10, 1), 14e-6, *noisy(10e-6, 10, 2)], "outlier")
    levels(tmp_path, [*[10e-6] * 10, *[10.15e-6] * 10], "small")
    assert found(tmp_path, 21) == {}
    assert list(found(tmp_path, 21, least=0.01)) == ["small"]


@pytest.mark.parametrize("values", [[1.0], [1.0, 2.0], [1.0, 1.0, 2.0], [1.0] * 8, [math.nan] * 3 + [1.0]])
def test_histories_that_are_too_short_or_flat_have_none(tmp_path: Path, values: list[float]) -> None:
    levels(tmp_path, values)
    assert found(tmp_path, len(values)) == {}


def test_values_beyond_every_measurement_are_left_out(tmp_path: Path) -> None:
    levels(tmp_path, [*[10e-6] * 6, *[12e-6] * 6])
    for path in sorted((tmp_path / "runner").glob("0000000[6-9]*")):
        path.write_text(path.read_text().replace("[1.2e-05]", "[" + "9" * 400 + "]", 1))
    (step,) = found(tmp_path, 12)["runner"]
    assert (step.good, step.bad, step.results) == (shas(6)[5], shas(11)[10], (6, 2))


def test_results_off_the_line_and_of_another_version_are_left_out(tmp_path: Path) -> None:
    levels(tmp_path, [*[10e-6] * 6, *[12e-6] * 6])
    assert found(tmp_path, 6) == {}
    steps, files = cell_steps(tmp_path, {}, least_change=0.02, say=print)
    assert (steps, files) == ({}, 0)


def test_files_that_are_not_whole_are_left_out_and_named(tmp_path: Path) -> None:
    levels(tmp_path, [*[10e-6] * 6, *[12e-6] * 6])
    (tmp_path / "runner" / "deadbeef-x.json").write_text("{")
    said: list[str] = []
    order = {sha: position for position, sha in enumerate(shas(12))}
    steps, files = cell_steps(tmp_path, order, least_change=0.02, say=said.append)
    assert (len(steps["runner"]), files) == (1, 12)
    (line,) = said
    assert "deadbeef-x.json is left out: it is not whole JSON" in line
    (tmp_path / "benchmarks.json").write_text("{")
    with pytest.raises(MachineError, match=r"benchmarks.json is not whole JSON"):
        found(tmp_path, 12)
