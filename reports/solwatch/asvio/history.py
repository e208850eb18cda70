"""asv's history as one curve, and its best segment: where a commit is chosen from, never a time compared with."""

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from asv.step_detect import detect_steps

from solwatch.asvio.merging import BENCHMARKS
from solwatch.asvio.reading import benchmarks_in, results_in, values_in

CellTimes = Mapping[tuple[str, tuple[str, ...]], float]
"""Benchmark's name and the names of its parameters' values, to seconds."""

LEAST_CELLS = 0.5
"""Of all cells, what a commit must have been timed in: a few cells say little about the rest."""


def times_by_commit(results_dir: Path, machine: str, order: Sequence[str]) -> Mapping[str, CellTimes]:
    """Return what asv keeps of this machine: hash to times, for the hashes in ``order``.

    Only benchmarks in seconds, and only results of the version that benchmarks.json lists: others timed something
    else. Files that can't be read are left out. Raises ``MachineError`` when that list isn't asv's.
    """
    if not (results_dir / BENCHMARKS).exists():
        return {}
    timed = {name: listed for name, listed in benchmarks_in(results_dir).items() if listed.unit == "seconds"}
    found: dict[str, dict[tuple[str, tuple[str, ...]], float]] = {}
    for results in results_in(results_dir / machine, lambda line: None, order):
        times = {(name, values): value for name, values, value in values_in(results, timed)}
        if times:
            found.setdefault(results.commit_hash, {}).update(times)
    return found


def best_commit(order: Sequence[str], times: Mapping[str, CellTimes]) -> str | None:
    """Return the newest commit of the best segment of history, ``None`` without any times in ``order``.

    ``order``: hashes, the oldest first. The curve is the geometric mean over cells of time / the cell's median; asv's
    step detection divides it into segments, and the lowest one is the best, the later one of equals.
    """
    cells = {cell for commit in order for cell in times.get(commit, {})}
    known = [commit for commit in order if len(times.get(commit, {})) >= max(1.0, LEAST_CELLS * len(cells))]
    if not known:
        return None
    medians = {
        cell: statistics.median(times[commit][cell] for commit in known if cell in times[commit])
        for cell in set(itertools.chain.from_iterable(times[commit] for commit in known))
    }
    curve = [
        math.exp(statistics.fmean(math.log(time_s / medians[cell]) for cell, time_s in times[commit].items()))
        for commit in known
    ]
    segments: list[tuple[int, int, float, float, float]] = detect_steps(curve)
    _, end, *_ = min(reversed(segments), key=lambda segment: segment[2])
    return known[end - 1]
