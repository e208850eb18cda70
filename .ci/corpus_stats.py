"""Shows what rounds of corpus files say of each cell: mean and spread of log(head / base), and what corrects them.

The correction is the judge's: it takes from each side its launches times what its null kernel is above the mean of
both sides' null kernels. ``r(null)`` is how the uncorrected log ratios follow log(head / base) of the null kernel
beside that cell.
"""

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from solwatch.app.condensing import replayed
from solwatch.judge.series import (
    RoundFacts,
    cycles_log_ratios,
    log_ratios,
    null_log_ratios,
    rounds_by_cell,
    series,
)
from solwatch.model.errors import SolwatchError
from solwatch.model.record import Record
from solwatch.stats.moments import Moments, moments
from solwatch.workspace.corpus import read_corpus


@dataclass(frozen=True)
class CellStats:
    """One cell over a file's rounds, in log(head / base).

    ``corrected``: as the judge takes it, the launch path taken off; ``None`` where there is nothing to take off.
    ``cycles``: corrected, in SM cycles; ``None`` where the clock isn't known.
    """

    key: str
    base_s: float
    raw: Moments
    corrected: Moments | None
    cycles: Moments | None
    follows_null: float | None


def cell_stats(key: str, facts: Sequence[RoundFacts]) -> CellStats | None:
    """Return the figures of one cell, ``None`` when no round of it counts."""
    counted = [fact for fact in facts if fact.log_ratio is not None]
    raw_ratios = [fact.raw_log_ratio for fact in counted if fact.raw_log_ratio is not None]
    raw = moments(raw_ratios)
    if raw is None:
        return None
    corrected = log_ratios(counted)
    nulls = null_log_ratios(counted)
    return CellStats(
        key=key,
        base_s=statistics.fmean(fact.base_s for fact in counted if fact.base_s is not None),
        raw=raw,
        corrected=moments(corrected) if corrected != raw_ratios else None,
        cycles=moments(cycles_log_ratios(counted)),
        follows_null=correlation(raw_ratios, nulls) if len(nulls) == len(raw_ratios) else None,
    )


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Pearson's coefficient; ``None`` below three values or where one of the two never changes."""
    if len(one) < 3 or len(set(one)) == 1 or len(set(other)) == 1:
        return None
    return statistics.correlation(one, other)


def table_of(record: Record) -> Table:
    """Return the table of one file's cells."""
    table = Table()
    table.add_column("cell")
    heads = ("rounds", "base", "mean ± s.e.", "sd", "corrected mean ± s.e.", "corrected sd", "cycles sd", "r(null)")
    for head in heads:
        table.add_column(head, justify="right")
    units = {cell.key: cell.unit for cell in record.header.cells}
    measured = rounds_by_cell(record)
    for key in [*units, *sorted(measured.keys() - units)]:
        found = cell_stats(key, series(measured.get(key, [])))
        if found is None:
            table.add_row(key, "0", *["–"] * (len(heads) - 1))
            continue
        table.add_row(
            key,
            str(found.raw.count),
            f"{found.base_s * 1e6:.2f} µs"
            if units.get(key, "seconds") == "seconds"
            else f"{found.base_s:g} {units[key]}",
            mean(found.raw),
            percent(found.raw.spread),
            mean(found.corrected),
            percent(found.corrected.spread if found.corrected else None),
            percent(found.cycles.spread if found.cycles else None),
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
