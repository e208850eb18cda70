"""The launch path: what it adds to every launch differs from process to process, and a null kernel measures it.

Seen on an H200: the time of a kernel that does nothing scatters between processes by 0.1 µs, is steady within one,
and moves the time of any other kernel by as much for each launch (docs/design/process-offsets.md).
"""

from collections.abc import Sequence

import msgspec

from solwatch.model.cell import CellInfo
from solwatch.model.record import Block, CellRound, Round, Side
from solwatch.stats.centre import trimmed_mean

NULL_KERNEL = "null_kernel"
"""Key of the cell that the null kernel is: a head that makes every launch slower must not be corrected away."""

CORRECTED_TIMER = "held"
"""Replayed graphs don't follow the null kernel, CUPTI leaves the launch path out, the others are too coarse."""


class LaunchPath(msgspec.Struct, frozen=True, kw_only=True):
    """The null kernel's time on both sides in one round, in seconds, over all cells that were timed with it."""

    head_s: float
    base_s: float

    def corrected(
        self, head_s: float, base_s: float, head_launches: int, base_launches: int
    ) -> tuple[float, float] | None:
        """Return both times as if the null kernel took the mean of its two times on either side.

        Each launch of a side is corrected once, so that a launch more on one side stays what it costs. ``None``
        when nothing positive would be left.
        """
        middle_s = (self.head_s + self.base_s) / 2
        head = head_s - head_launches * (self.head_s - middle_s)
        base = base_s - base_launches * (self.base_s - middle_s)
        return (head, base) if head > 0 and base > 0 else None


class Nulls(msgspec.Struct, frozen=True, kw_only=True):
    """The null kernel's centre in one round: ``by_cell`` maps a key to (head, base), ``path`` is their mean."""

    by_cell: dict[str, tuple[float | None, float | None]]
    path: LaunchPath | None


def nulls_of(round_: Round) -> Nulls:
    """Return what the null kernel took in ``round_``; only blocks of the corrected timer count for its path."""
    by_cell = {cell.key: (_centre(cell.head), _centre(cell.base) if cell.base else None) for cell in round_.cells}
    pairs = [
        by_cell[cell.key]
        for cell in round_.cells
        if cell.base is not None and launches_of(cell.head) is not None and launches_of(cell.base) is not None
    ]
    heads, bases = _known([head for head, _ in pairs]), _known([base for _, base in pairs])
    path = LaunchPath(head_s=_mean(heads), base_s=_mean(bases)) if heads and bases else None
    return Nulls(by_cell=by_cell, path=path)


def launches_of(side: Side) -> int | None:
    """Return the launches of a call that was timed by the corrected timer, ``None`` for any other."""
    clean = [block for block in side.blocks if not block.voids]
    if not clean or any(block.timer != CORRECTED_TIMER for block in clean):
        return None
    return clean[0].launches


def null_info() -> CellInfo:
    """Return the null kernel as a cell."""
    return CellInfo(key=NULL_KERNEL, benchmark=NULL_KERNEL, params=[], param_names=[], kind="null")


def null_cell(path: LaunchPath) -> CellRound:
    """Return one round of the null kernel as a cell: each side's time over all cells."""
    return CellRound(key=NULL_KERNEL, head=_as_side(path.head_s), base=_as_side(path.base_s))


def _as_side(time_s: float) -> Side:
    return Side(blocks=[Block(samples_s=[time_s], null_s=[], number=1, timer=CORRECTED_TIMER)])


def _centre(side: Side) -> float | None:
    return trimmed_mean([sample for block in side.blocks if not block.voids for sample in block.null_s])


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
