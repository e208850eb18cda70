"""asv's history as one curve, and its best segment: where a commit is chosen from, never a time compared with."""

import itertools
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from asv.benchmarks import Benchmarks
from asv.results import Results
from asv.step_detect import detect_steps
from asv.util import UserError

from solwatch.model.errors import RequestError

CellTimes = Mapping[tuple[str, tuple[str, ...]], float]
"""Benchmark's name and the names of its parameters' values, to seconds."""

LEAST_CELLS = 0.5
"""Of all cells, what a commit must have been timed in: a few cells say little about the rest."""


def times_by_commit(results_dir: Path, machine: str, order: Sequence[str]) -> Mapping[str, CellTimes]:
    """Return what asv keeps of this machine: hash to times, for the hashes in ``order``.

    Files that asv couldn't read are left out.

    Only benchmarks in seconds, and only results of the version that benchmarks.json lists: others timed something
    else. Raises ``RequestError`` when that list isn't asv's.
    """
    listed = _listed(results_dir / "benchmarks.json")
    found: dict[str, dict[tuple[str, tuple[str, ...]], float]] = {}
    starts = {commit[:8] for commit in order}
    for path in sorted((results_dir / machine).glob("*-*.json")):
        if path.name[:8] not in starts:
            continue
        try:
            results = Results.load(str(path), machine_name=machine)
            times = _times(results, listed)
        except (UserError, OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue  # somebody else's, or half a file
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


def _listed(path: Path) -> dict[str, str]:
    """Return the benchmarks in seconds, name to version."""
    try:
        listed = json.loads(path.read_bytes()) if path.exists() else {}
        if listed and listed.pop("version") != Benchmarks.api_version:
            raise ValueError("another format")
        return {name: entry["version"] for name, entry in listed.items() if entry.get("unit") == "seconds"}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise RequestError(f"{path} is not asv's list of benchmarks: move it away, and run asv again") from None


def _times(results: Results, listed: Mapping[str, str]) -> dict[tuple[str, tuple[str, ...]], float]:
    times = {}
    for name in results.get_all_result_keys() & listed.keys():
        if results.benchmark_version.get(name) not in (None, listed[name]):
            continue
        params = results.get_result_params(name)
        values = results.get_result_value(name, params)
        for combination, value in zip(itertools.product(*params), values, strict=True):
            if isinstance(value, (int, float)) and math.isfinite(value) and value > 0:
                times[name, combination] = float(value)
    return times
