"""Steps in the history of each cell, found by asv's own detection over its results."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from asv.step_detect import detect_steps

from solwatch.asvio.levels import LEAST_RESULTS, Level, changes
from solwatch.asvio.reading import benchmarks_in, results_in, values_in
from solwatch.asvio.results import TRACKS
from solwatch.model.history import CellStep

_REPEATS_TIME = ".track_sol_gap"
"""Benchmarks that move as the time of the same cell does: they would tell every step twice."""


class _Step(NamedTuple):
    """What ``CellStep`` says of one step, in its words."""

    good: str
    bad: str
    before: float
    after: float
    latest: float
    results: tuple[int, int]


_Series = dict[int, tuple[str, float]]
"""Position in the history, to the commit and its value."""


def cell_steps(
    results_dir: Path, order: Mapping[str, int], *, least_change: float, say: Callable[[str], None]
) -> tuple[dict[str, list[CellStep]], int]:
    """Return the steps by machine, and how many files of results they rest on.

    ``order``: position of each commit in the history that counts; results of others are left out. A step counts when
    it changes the level by more than ``least_change`` (0.02 is 2 %) and by more than the levels' own errors, as asv
    estimates them. ``say`` hears of files that can't be read, one line each. Raises ``MachineError`` when the list of
    benchmarks can't be.
    """
    benchmarks = benchmarks_in(results_dir)
    moving = {name: listed for name, listed in benchmarks.items() if not name.endswith(_REPEATS_TIME)}
    found: dict[str, list[CellStep]] = {}
    files = 0
    for folder in sorted(path for path in results_dir.iterdir() if path.is_dir()):
        series: dict[tuple[str, str, tuple[str, ...]], _Series] = {}
        for results in results_in(folder, say):
            if results.commit_hash not in order:
                continue
            files += 1
            for name, values, value in values_in(results, moving):
                points = series.setdefault((results.env_name, name, values), {})
                points[order[results.commit_hash]] = (results.commit_hash, value)
        for (environment, name, values), points in series.items():
            listed = benchmarks[name]
            for step in _steps(points, least_change):
                of_cell: dict[str, Any] = {"benchmark": name, "cell": _key(name, values), "environment": environment}
                made = CellStep(**of_cell, unit=listed.unit or "", **step._asdict())
                found.setdefault(folder.name, []).append(made)
    return found, files


def _steps(points: _Series, least_change: float) -> Iterator[_Step]:
    """Yield each step between two levels that both have enough results."""
    ordered = [points[position] for position in sorted(points)]
    if len(ordered) < 2 * LEAST_RESULTS:
        return
    levels = [Level(*level) for level in detect_steps([value for _, value in ordered])]
    counting = [level for level in levels if level.end - level.start >= LEAST_RESULTS]
    for earlier, later in changes(levels, least_change):
        yield _Step(
            good=ordered[earlier.end - 1][0],
            bad=ordered[later.start][0],
            before=earlier.value,
            after=later.value,
            latest=counting[-1].value,
            results=(earlier.end - earlier.start, later.end - later.start),
        )


def _key(name: str, values: Sequence[str]) -> str:
    """Return the cell's key from asv's name of the benchmark: without the method, where it is solwatch's."""
    start, _, method = name.rpartition(".")
    cell = start if method in TRACKS else name
    return f"{cell}({', '.join(values)})" if values else cell
