"""What each round says of a cell: one log ratio, or why there is none."""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from solwatch.judge.launch_path import NULL_KERNEL, Nulls, launches_of, null_cell, nulls_of
from solwatch.model.record import Block, CellRound, Record, Round, Side
from solwatch.stats.centre import trimmed_mean


class RoundFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One cell in one round, reduced to what is judged.

    ``ordinal``: 1 for the first completed round of the record. ``head_s``, ``base_s``: centres of the clean
    blocks' samples, pooled, in the cell's unit. ``log_ratio``: log(head / base), above 0 is slower, the median over
    the turns; ``None`` when the round does not count; ``dropped`` then says why (``base`` is ``None`` in a run of
    head alone, and nothing is dropped for that). ``void``: dropped because a measurement can't be trusted, not
    because a side failed. ``head_null_s``, ``base_null_s``: centres of the kernel that does nothing.
    ``raw_log_ratio``: without the correction for the launch path that is in ``log_ratio``, if there is one.
    ``cycles_log_ratio``: of times × SM clocks, ``None`` where the clock isn't known.
    """

    ordinal: int
    index: int
    head_slot: int
    head_s: float | None
    base_s: float | None
    log_ratio: float | None
    head_null_s: float | None
    base_null_s: float | None
    raw_log_ratio: float | None = None
    cycles_log_ratio: float | None = None
    dropped: str | None = None
    void: bool = False


class Measured(NamedTuple):
    """One cell in one round, and what the null kernel took in that round."""

    ordinal: int
    round: Round
    cell: CellRound
    nulls: Nulls


def rounds_by_cell(record: Record) -> dict[str, list[Measured]]:
    """Return, for each cell key, its rounds in order; one pass over the record. The null kernel is a cell too."""
    found: dict[str, list[Measured]] = {}
    for ordinal, round_ in enumerate(record.rounds, start=1):
        nulls = nulls_of(round_)
        for cell in round_.cells:
            found.setdefault(cell.key, []).append(Measured(ordinal, round_, cell, nulls))
        if nulls.path:
            own = Measured(ordinal, round_, null_cell(nulls.path), Nulls(by_cell={}, path=None))
            found.setdefault(NULL_KERNEL, []).append(own)
    return found


def series(rounds: Iterable[Measured]) -> list[RoundFacts]:
    """Return the facts of each round of one cell."""
    return [_facts(measured) for measured in rounds]


def log_ratios(facts: Sequence[RoundFacts]) -> list[float]:
    """Return the log ratios of the rounds that count."""
    return [fact.log_ratio for fact in facts if fact.log_ratio is not None]


def null_log_ratios(facts: Sequence[RoundFacts]) -> list[float]:
    """Return log(head / base) of the do-nothing kernel for the rounds that have it on both sides."""
    ratios = [
        _log_ratio(fact.head_null_s, fact.base_null_s)
        for fact in facts
        if fact.head_null_s is not None and fact.base_null_s is not None
    ]
    return [ratio for ratio in ratios if ratio is not None]


def cycles_log_ratios(facts: Sequence[RoundFacts]) -> list[float]:
    """Return log(head / base) in SM cycles of the rounds that count and have it."""
    return [fact.cycles_log_ratio for fact in facts if fact.log_ratio is not None and fact.cycles_log_ratio is not None]


def _facts(measured: Measured) -> RoundFacts:
    cell, round_ = measured.cell, measured.round
    head_s, head_voids = _centre(cell.head)
    base_s, base_voids = _centre(cell.base) if cell.base is not None else (None, [])
    raw, log_ratio, cycles, dropped, void = None, None, None, None, False
    if head_s is None or (cell.base is not None and base_s is None):
        dropped, void = _why_dropped(cell, head_s, head_voids, base_s, base_voids)
    elif base_s is not None:
        turns = _turns(cell)
        raw = _over_turns([(head.centre, base.centre) for head, base in turns])
        if raw is not None:
            correction = _correction(measured, head_s, base_s)
            log_ratio = raw + correction
            in_cycles = _over_turns([(head.cycles, base.cycles) for head, base in turns])
            cycles = in_cycles + correction if in_cycles is not None else None
        else:
            dropped, void = f"head / base is {head_s:g} / {base_s:g}, not a ratio of positive numbers", True
    head_null_s, base_null_s = measured.nulls.by_cell.get(cell.key, (None, None))
    return RoundFacts(
        ordinal=measured.ordinal,
        index=round_.index,
        head_slot=round_.head_slot,
        head_s=head_s,
        base_s=base_s,
        log_ratio=log_ratio,
        head_null_s=head_null_s,
        base_null_s=base_null_s,
        raw_log_ratio=raw,
        cycles_log_ratio=cycles,
        dropped=dropped,
        void=void,
    )


class _Taken(NamedTuple):
    """A block's centre in the cell's unit, and in SM cycles; a processor's own clock says nothing of its cycles."""

    centre: float | None
    cycles: float | None


def _turns(cell: CellRound) -> list[tuple[_Taken, _Taken]]:
    """Return head's and base's block of each turn.

    A side's blocks are paired in their order; where void ones leave more on one side than on the other, its last ones
    are left out.
    """
    assert cell.base is not None, "a round of head alone has no ratio"
    head, base = ([_taken(block) for block in side.blocks if not block.voids] for side in (cell.head, cell.base))
    return list(zip(head, base, strict=False))


def _over_turns(values: Sequence[tuple[float | None, float | None]]) -> float | None:
    """Return the median over the turns of log(head / base).

    The two blocks of a turn follow each other and share the clock of the moment, which wanders under long calls; a
    turn in which it jumped is one that the median passes over. ``None`` without any turn, and where one has no ratio.
    """
    ratios = [_log_ratio(head, base) for head, base in values if head is not None and base is not None]
    known = [ratio for ratio in ratios if ratio is not None]
    return statistics.median(known) if known and len(known) == len(ratios) else None


def _taken(block: Block) -> _Taken:
    centre = trimmed_mean(block.samples_s)
    cycles = centre * block.sm_clock_hz if centre is not None and block.null_s and block.sm_clock_hz else None
    return _Taken(centre, cycles)


def _correction(measured: Measured, head_s: float, base_s: float) -> float:
    """Return what is added to the log ratio to take off what the launch path differs in between the sides."""
    cell, path = measured.cell, measured.nulls.path
    head_launches = launches_of(cell.head)
    base_launches = launches_of(cell.base) if cell.base is not None else None
    if path is not None and head_launches is not None and base_launches is not None:
        corrected = path.corrected(head_s, base_s, head_launches, base_launches)
        if corrected is not None:
            head, base = corrected
            return math.log(head / head_s) - math.log(base / base_s)
    return 0.0


def _centre(side: Side) -> tuple[float | None, list[str]]:
    clean = [block for block in side.blocks if not block.voids]
    voids = [reason for block in side.blocks for reason in block.voids]
    return trimmed_mean([sample for block in clean for sample in block.samples_s]), voids


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
