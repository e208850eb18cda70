"""A record's times as asv results, so that asv's compare, show and publish see what solwatch measured."""

import math
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from solwatch.asvio.machine import machine_info
from solwatch.asvio.resultfiles import Description, FileWriter, Measured, Samples, Value, write_results
from solwatch.judge.judgement import Judgement
from solwatch.model.cell import CellInfo, Work
from solwatch.model.record import Commit, Record, Side
from solwatch.model.verdict import Verdict
from solwatch.sol.score import CeilingExceededError, score
from solwatch.stats.centre import trimmed_mean

TRACKS = {"track_time": "seconds", "track_sol_gap": "T/T_SOL", "track_energy": "joules (hot loop)"}
"""The benchmarks of a solwatch suite's class, and the unit of each."""


def save_results(record: Record, judgement: Judgement, results_dir: Path, *, write: FileWriter) -> list[str]:
    """Merge both commits' times into asv's results; return warnings, one line each.

    One sample is the trimmed mean of one clean block, as in ``asv run`` of the same suite. Cells whose verdict is
    void, and the times of a working tree (no commit to keep them under), are left out. ``write`` replaces a file
    atomically. Raises ``MachineError`` for a file that can't be merged into; nothing is written then.
    """
    void = {cell.key for cell in judgement.verdicts if cell.verdict is Verdict.VOID}
    cells = [info for info in record.header.cells if info.key not in void]
    warnings: list[str] = []
    for commit, name in ((record.header.base, "base"), (record.header.head, "head")):
        if commit is None:
            continue
        if commit.dirty:
            warnings.append("the working tree's times are not kept in asv's history: commit, then measure the commit")
            continue
        values = {info.key: _values(record, info, name) for info in cells}
        warnings += _save(commit, cells, values, results_dir, write)
    return list(dict.fromkeys(warnings))


def _save(
    commit: Commit, cells: list[CellInfo], values: dict[str, dict[str, Value]], results_dir: Path, write: FileWriter
) -> list[str]:
    by_benchmark: dict[str, dict[tuple[str, ...], Value]] = {}
    members: dict[str, list[CellInfo]] = {}
    for info in cells:
        for benchmark, value in values[info.key].items():
            by_benchmark.setdefault(benchmark, {})[tuple(info.params)] = value
            members.setdefault(benchmark, []).append(info)
    measured = Measured(
        machine=machine_info(),
        commit=commit.sha,
        date_ms=int(datetime.fromisoformat(commit.committed_at.replace("Z", "+00:00")).timestamp() * 1000),
        python=f"{sys.version_info[0]}.{sys.version_info[1]}",
    )
    descriptions = [_description(benchmark, infos) for benchmark, infos in members.items()]
    return write_results(results_dir, measured, descriptions, by_benchmark, write=write)


def _description(benchmark: str, infos: list[CellInfo]) -> Description:
    first = infos[0]
    # The whole grid: asv takes a combination that its list lacks for one that failed.
    axes = first.axes or [list(dict.fromkeys(info.params[at] for info in infos)) for at in range(len(first.params))]
    unit = first.unit if first.kind == "asv" else TRACKS[benchmark.rpartition(".")[2]]
    return Description(
        name=benchmark,
        params=axes,
        param_names=first.param_names,
        type=first.type,
        unit=unit,
        version=first.version,
    )


def _values(record: Record, info: CellInfo, side_name: str) -> dict[str, Value]:
    """Return the results of one side of one cell, by asv's name of the benchmark; empty when it wasn't measured."""
    rounds = [cell for round_ in record.rounds for cell in round_.cells if cell.key == info.key]
    sides = [side for cell in rounds if (side := cell.head if side_name == "head" else cell.base) is not None]
    if not sides:
        return {}
    time_name = info.benchmark if info.kind == "asv" else f"{info.benchmark}.track_time"
    times = [centre for side in sides for centre in _centres(side)]
    if not times:
        skipped = any(side.failure is not None and side.failure.kind == "skipped" for side in sides)
        return {time_name: math.nan if skipped else None}
    number = sides[0].blocks[0].number if sides[0].blocks else 1
    values: dict[str, Value] = {time_name: Samples(times, number)}
    work = record.header.work.get(info.key)
    gaps = list(_gaps(record, work, times)) if work else []
    if gaps:
        values[f"{info.benchmark}.track_sol_gap"] = Samples(gaps)
    energies = [side.energy_j for side in sides if side.energy_j is not None]
    if energies:
        values[f"{info.benchmark}.track_energy"] = Samples(energies)
    return values


def _centres(side: Side) -> list[float]:
    centres = (trimmed_mean(block.samples_s) for block in side.blocks if not block.voids)
    return [centre for centre in centres if centre is not None]


def _gaps(record: Record, work: Work, times: Iterable[float]) -> list[float]:
    """Return the gap of every time, or none at all: without the times that beat the ceiling the rest would mislead."""
    gaps = []
    for time_s in times:
        try:
            scored = score(work, time_s, record.header.ceilings)
        except CeilingExceededError:
            return []  # the time stands, a score that can't be true doesn't
        if scored is None or scored.sol_gap is None:
            return []
        gaps.append(scored.sol_gap)
    return gaps
