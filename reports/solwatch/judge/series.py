"""What each round says of a cell: one log ratio, or why there is none."""

import math
from collections.abc import Iterable, Sequence

import msgspec

from solwatch.model.record import CellRound, Record, Round, Side
from solwatch.stats.centre import trimmed_mean


class RoundFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One cell in one round, reduced to what is judged.

    ``ordinal``: 1 for the first completed round of the record. ``head_s``, ``base_s``: centres of the clean
    blocks' samples, pooled, in the cell's unit. ``log_ratio``: log(head / base), above 0 is slower, ``None``
    when the round does not count; ``dropped`` then says why (``base`` is ``None`` in a run of head alone, and
    nothing is dropped for that). ``void``: dropped because a measurement can't be trusted, not because a side
    failed. ``head_null_s``, ``base_null_s``: centres of the kernel that does nothing.
    """

    ordinal: int
    index: int
    head_slot: int
    head_s: float | None
    base_s: float | None
    log_ratio: float | None
    head_null_s: float | None
    base_null_s: float | None
    dropped: str | None = None
    void: bool = False


def rounds_by_cell(record: Record) -> dict[str, list[tuple[int, Round, CellRound]]]:
    """Return, for each cell key, its rounds in order with their ordinals; one pass over the record."""
    found: dict[str, list[tuple[int, Round, CellRound]]] = {}
    for ordinal, round_ in enumerate(record.rounds, start=1):
        for cell in round_.cells:
            found.setdefault(cell.key, []).append((ordinal, round_, cell))
    return found


def series(rounds: Iterable[tuple[int, Round, CellRound]]) -> list[RoundFacts]:
    """Return the facts of each round of one cell."""
    return [_facts(ordinal, round_, cell) for ordinal, round_, cell in rounds]


def log_ratios(facts: Sequence[RoundFacts]) -> list[float]:
    """Return the log ratios of the rounds that count."""
    return [fact.log_ratio for fact in facts if fact.log_ratio is not None]


def null_log_ratios(facts: Sequence[RoundFacts]) -> list[float]:
    """Return log(head / base) of the do-nothing kernel for the rounds that have it on both sides."""
    return [
        math.log(fact.head_null_s / fact.base_null_s)
        for fact in facts
        if fact.head_null_s is not None
        and fact.base_null_s is not None
        and fact.head_null_s > 0
        and fact.base_null_s > 0
    ]


def _facts(ordinal: int, round_: Round, cell: CellRound) -> RoundFacts:
    head_s, head_voids = _centre(cell.head)
    base_s, base_voids = _centre(cell.base) if cell.base is not None else (None, [])
    log_ratio, dropped, void = None, None, False
    if head_s is None or (cell.base is not None and base_s is None):
        dropped, void = _why_dropped(cell, head_s, head_voids, base_s, base_voids)
    elif base_s is not None:
        log_ratio = _log_ratio(head_s, base_s)
        if log_ratio is None:
            dropped, void = f"head / base is {head_s:g} / {base_s:g}, not a ratio of positive numbers", True
    return RoundFacts(
        ordinal=ordinal,
        index=round_.index,
        head_slot=round_.head_slot,
        head_s=head_s,
        base_s=base_s,
        log_ratio=log_ratio,
        head_null_s=_null_centre(cell.head),
        base_null_s=None if cell.base is None else _null_centre(cell.base),
        dropped=dropped,
        void=void,
    )


def _centre(side: Side) -> tuple[float | None, list[str]]:
    clean = [block for block in side.blocks if not block.voids]
    voids = [reason for block in side.blocks for reason in block.voids]
    return trimmed_mean(sample for block in clean for sample in block.samples_s), voids


def _null_centre(side: Side) -> float | None:
    return trimmed_mean(sample for block in side.blocks if not block.voids for sample in block.null_s)


def _log_ratio(head: float, base: float) -> float | None:
    # Counters that are 0 on both sides (an asv benchmark may track anything) have not changed.
    if head == base == 0:
        return 0.0
    return math.log(head / base) if head > 0 and base > 0 else None


def _why_dropped(
    cell: CellRound, head: float | None, head_voids: list[str], base: float | None, base_voids: list[str]
) -> tuple[str, bool]:
    sides = [("head", cell.head, head, head_voids)]
    if cell.base is not None:
        sides.append(("base", cell.base, base, base_voids))
    for name, side, centre, _ in sides:
        if centre is None and side.failure is not None:
            return f"{name} {side.failure.kind}: {side.failure.message}", False
    for name, _, centre, voids in sides:
        if centre is None:
            return f"{name}: {'; '.join(dict.fromkeys(voids)) or 'no finite sample'}", True
    raise AssertionError("a round is dropped only for a side without a centre")
