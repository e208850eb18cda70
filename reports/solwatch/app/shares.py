"""Which GPU measures which cell: shares that will probably take equally long, dealt once and kept in all rounds."""

from collections.abc import Mapping, Sequence

from solwatch.model.cell import CellInfo, Work
from solwatch.model.record import Ceilings
from solwatch.sol.score import sol_limit

CELL_S = 0.2
"""What a cell takes on both sides beside its long calls: inputs, warm-up, blocks of fixed length, telemetry."""

CALLS = 100
"""Calls in one round of a cell whose calls are long: both sides' blocks, of at least 3 calls, and warming up."""


def shares(cells: Sequence[CellInfo], work: Mapping[str, Work], ceilings: Ceilings, count: int) -> list[frozenset[str]]:
    """Return the keys of each of ``count`` shares.

    The longest cell first, always to the share that is shortest so far: no share is longer than the mean by more
    than one cell. The same cells give the same shares.
    """
    costs_s = {cell.key: CELL_S + CALLS * _call_s(work.get(cell.key), ceilings) for cell in cells}
    dealt: list[set[str]] = [set() for _ in range(count)]
    totals_s = [0.0] * count
    for key in sorted(costs_s, key=lambda key: (-costs_s[key], key)):
        shortest = totals_s.index(min(totals_s))
        dealt[shortest].add(key)
        totals_s[shortest] += costs_s[key]
    return [frozenset(keys) for keys in dealt]


def _call_s(work: Work | None, ceilings: Ceilings) -> float:
    """Return a call's time at the speed of light, 0 where nothing is known of it."""
    limit = sol_limit(work, ceilings) if work is not None else None
    return limit.t_sol_s if limit is not None else 0.0
