"""Shows what rounds of corpus files say of each cell: mean and spread of log(head / base), and what corrects them.

The correction takes from each side its launches times what its null kernel is above the mean of both sides' null
kernels. ``r(null)`` is how the uncorrected log ratios follow log(head / base) of the null kernel.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from solwatch.app.condensing import replayed
from solwatch.judge.series import RoundFacts, rounds_by_cell, series
from solwatch.model.errors import SolwatchError
from solwatch.model.record import CellRound, Record, Side
from solwatch.stats.moments import Moments, moments
from solwatch.workspace.corpus import read_corpus


@dataclass(frozen=True)
class CellStats:
    """One cell over a file's rounds; log ratios, ``None`` where the rounds are too few or have no null kernel."""

    key: str
    base_s: float
    raw: Moments
    corrected: Moments | None
    follows_null: float | None


def cell_stats(key: str, facts: Sequence[RoundFacts], cells: Sequence[CellRound]) -> CellStats | None:
    """Return the figures of one cell, ``None`` when no round of it counts."""
    counted = [(fact, cell) for fact, cell in zip(facts, cells, strict=True) if fact.log_ratio is not None]
    raw = moments([fact.log_ratio for fact, _ in counted if fact.log_ratio is not None])
    if raw is None:
        return None
    corrected = [corrected_log_ratio(fact, cell) for fact, cell in counted]
    known = [value for value in corrected if value is not None]
    pairs = [
        (fact.log_ratio, math.log(fact.head_null_s / fact.base_null_s))
        for fact, _ in counted
        if fact.log_ratio is not None and fact.head_null_s and fact.base_null_s
    ]
    return CellStats(
        key=key,
        base_s=statistics.fmean(fact.base_s for fact, _ in counted if fact.base_s is not None),
        raw=raw,
        corrected=moments(known) if len(known) == len(counted) else None,
        follows_null=correlation(pairs),
    )


def corrected_log_ratio(fact: RoundFacts, cell: CellRound) -> float | None:
    """Return log(head / base) less the sides' difference of the null kernel, once a launch."""
    head, base = launches(cell.head), launches(cell.base) if cell.base else None
    if None in (head, base, fact.head_s, fact.base_s, fact.head_null_s, fact.base_null_s):
        return None
    assert head is not None and base is not None and fact.head_s and fact.base_s  # noqa: PT018 - for the types
    assert fact.head_null_s is not None and fact.base_null_s is not None  # noqa: PT018 - for the types
    half_s = (fact.head_null_s - fact.base_null_s) / 2
    head_s, base_s = fact.head_s - head * half_s, fact.base_s + base * half_s
    return math.log(head_s / base_s) if head_s > 0 and base_s > 0 else None


def launches(side: Side) -> int | None:
    """Return how many kernels one call launches, ``None`` when a clean block doesn't know."""
    counts = [block.launches for block in side.blocks if not block.voids]
    known = [count for count in counts if count is not None]
    return max(known) if known and len(known) == len(counts) else None


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return Pearson's coefficient; ``None`` below three pairs or where one of the two never changes."""
    if len(pairs) < 3:
        return None
    try:
        return statistics.correlation(*zip(*pairs, strict=True))
    except statistics.StatisticsError:
        return None


def table_of(record: Record) -> Table:
    """Return the table of one file's cells."""
    table = Table()
    table.add_column("cell")
    heads = ("rounds", "base", "mean ± s.e.", "sd", "corrected mean ± s.e.", "corrected sd", "r(null)")
    for head in heads:
        table.add_column(head, justify="right")
    units = {cell.key: cell.unit for cell in record.header.cells}
    for key, rounds in rounds_by_cell(record).items():
        found = cell_stats(key, series(rounds), [cell for _, _, cell in rounds])
        if found is None:
            table.add_row(key, "0", *["–"] * (len(heads) - 1))
            continue
        table.add_row(
            key,
            str(found.raw.count),
            f"{found.base_s * 1e6:.2f} µs" if units[key] == "seconds" else f"{found.base_s:g} {units[key]}",
            mean(found.raw),
            percent(found.raw.spread),
            mean(found.corrected),
            percent(found.corrected.spread if found.corrected else None),
            "–" if found.follows_null is None else f"{found.follows_null:+.2f}",
        )
    return table


def mean(found: Moments | None) -> str:
    """Return mean and standard error of log ratios, in percent."""
    if found is None:
        return "–"
    error = found.standard_error
    return f"{100 * found.mean:+.3f} ± {'–' if error is None else f'{100 * error:.3f}'} %"


def percent(fraction: float | None) -> str:
    """Return a fraction in percent."""
    return "–" if fraction is None else f"{100 * fraction:.3f} %"


def heading(path: Path, record: Record) -> str:
    """Return what a file is, how long its rounds took, and how many of them the coin gave head the first slot."""
    header, rounds = read_corpus(path).header, record.rounds
    said = f"{path.name}: {header.label or 'no label'}, {header.occasion or 'no occasion'}, {len(rounds)} rounds"
    if not rounds:
        return said
    opening = [each.opening_s for each in rounds if each.opening_s is not None]
    return (
        f"{said}, {statistics.fmean(each.wall_s for each in rounds):.2f} s a round"
        + (f", a pair opened in {statistics.fmean(opening):.2f} s" if opening else "")
        + f", head in slot 0 in {sum(each.head_slot == 0 for each in rounds)} of {len(rounds)}"
    )


def main() -> int:
    """Show each file; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 160)
    for path in parser.parse_args().files:
        try:
            record = replayed(path)
        except SolwatchError as error:
            print(f"corpus: {error}", file=sys.stderr)
            return int(error.exit_code)
        console.print(heading(path, record))
        console.print(table_of(record))
    return 0


if __name__ == "__main__":
    sys.exit(main())
