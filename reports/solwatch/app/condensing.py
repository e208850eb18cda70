"""Between rounds as measured and rounds as a corpus keeps them: each block one centre, columns of short numbers."""

import functools
import math
import operator
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from solwatch.model.cell import CellInfo
from solwatch.model.columns import folded, per_block, per_side
from solwatch.model.corpus import Corpus, CorpusHeader, CorpusRound, SideFailure, Void
from solwatch.model.errors import RequestError
from solwatch.model.record import Block, CellRound, Failure, Record, RecordEnd, RecordHeader, Round, Side, Telemetry
from solwatch.stats.centre import trimmed_mean
from solwatch.stats.spread import middle_spread
from solwatch.workspace.corpus import read_corpus
from solwatch.workspace.records import SCHEMA

NS, MHZ = 1e9, 1e-6
TIME_DIGITS, NULL_DIGITS, CLOCK_DIGITS, POWER_DIGITS, ROUGH_DIGITS = 6, 5, 4, 3, 2
"""Significant digits: rounding adds at most 5 parts in a million to a block's time and 3 in ten thousand to its
clock, where a round's own noise is above one in a thousand."""


def condensed(measured: Round, cells: Sequence[CellInfo]) -> CorpusRound:
    """Return a round of both sides as a corpus keeps it; ``cells``: the header's."""
    positions = {cell.key: position for position, cell in enumerate(cells)}
    order = [positions[cell.key] for cell in measured.cells]
    sides = [[cell.head, cell.base or Side()] for cell in measured.cells]
    to_ns = [NS if cells[position].unit == "seconds" else 1.0 for position in order]
    spots = [(cell, side, each) for cell, both in enumerate(sides) for side, each in enumerate(both)]

    def of_sides(value: Callable[[Side], Any]) -> Any:
        return folded([[value(side) for side in both] for both in sides])

    def of_blocks(value: Callable[[Block], Any]) -> Any:
        return of_sides(lambda side: [value(block) for block in side.blocks])

    def of_times(value: Callable[[Block], float | None], digits: int) -> Any:
        pairs = zip(sides, to_ns, strict=True)
        return folded(
            [[[_short(value(block), unit, digits) for block in side.blocks] for side in both] for both, unit in pairs]
        )

    return CorpusRound(
        index=measured.index,
        head_slot=measured.head_slot,
        started_at=measured.started_at,
        wall_s=round(measured.wall_s, 3),
        opening_s=None if measured.opening_s is None else round(measured.opening_s, 3),
        order=order,
        blocks=of_sides(lambda side: len(side.blocks)),
        time_ns=of_times(lambda block: trimmed_mean(block.samples_s), TIME_DIGITS),
        spread_ns=of_times(lambda block: middle_spread(block.samples_s), ROUGH_DIGITS),
        samples=of_blocks(lambda block: len(block.samples_s)),
        unrolled=of_blocks(lambda block: block.number),
        null_ns=of_blocks(lambda block: _short(trimmed_mean(block.null_s), NS, NULL_DIGITS)),
        timer=of_blocks(lambda block: block.timer),
        fallback=of_blocks(lambda block: block.fallback),
        launches=of_blocks(lambda block: block.launches),
        sm_clock_mhz=of_blocks(lambda block: _short(block.sm_clock_hz, MHZ, CLOCK_DIGITS)),
        throttle_reasons=of_blocks(_throttle_reasons),
        power_w=of_sides(lambda side: _short(_mean(each.power_w for each in _readings(side)), 1, POWER_DIGITS)),
        temperature_c=of_sides(
            lambda side: _short(_mean(each.temperature_c for each in _readings(side)), 1, ROUGH_DIGITS)
        ),
        caches=of_sides(lambda side: side.caches),
        voids=[
            Void(cell, side, number, list(block.voids))
            for cell, side, each in spots
            for number, block in enumerate(each.blocks)
            if block.voids
        ],
        failures=[
            SideFailure(cell, side, each.failure.kind, each.failure.message)
            for cell, side, each in spots
            if each.failure is not None
        ],
    )


def replayed(path: Path) -> Record:
    """Read a corpus file as a record that can be judged; raises ``RequestError`` for what isn't one."""
    corpus = read_corpus(path)
    for number, each in enumerate(corpus.rounds, start=2):
        try:
            expanded(each, corpus.header.cells)
        except (ValueError, IndexError) as error:
            raise RequestError(f"{path}, line {number}: not a round of this corpus ({error})") from error
    return record_of(corpus)


def record_of(corpus: Corpus) -> Record:
    """Return the corpus as a record whose blocks have one sample each, their centre."""
    rounds = [expanded(each, corpus.header.cells) for each in corpus.rounds]
    end = RecordEnd(stopped="rounds", wall_s=sum(each.wall_s for each in rounds))
    return Record(header=_record_header(corpus.header), rounds=rounds, end=end)


def expanded(kept: CorpusRound, cells: Sequence[CellInfo]) -> Round:
    """Return a corpus's round with one sample for each block; raises ``ValueError`` where its columns don't agree."""
    count = len(kept.order)
    infos = [cells[position] for position in kept.order]
    counts = [[int(blocks or 0) for blocks in both] for both in per_side(kept.blocks, count)]
    columns = {
        name: per_block(getattr(kept, name), counts)
        for name in ("time_ns", "null_ns", "unrolled", "timer", "fallback", "launches", "sm_clock_mhz")
    }
    reasons = per_block(kept.throttle_reasons, counts)
    power_w, temperature_c = per_side(kept.power_w, count), per_side(kept.temperature_c, count)
    caches = per_side(kept.caches, count)
    voids = {(each.cell, each.side, each.block): each.reasons for each in kept.voids}
    failures = {(each.cell, each.side): Failure(kind=each.kind, message=each.message) for each in kept.failures}

    def block(cell: int, side: int, number: int) -> Block:
        value = {name: column[cell][side][number] for name, column in columns.items()}
        bits = reasons[cell][side][number]
        return Block(
            samples_s=_sample(value["time_ns"], NS if infos[cell].unit == "seconds" else 1.0),
            null_s=_sample(value["null_ns"], NS),
            number=int(value["unrolled"] or 1),
            timer=value["timer"] or "",
            fallback=value["fallback"],
            launches=None if value["launches"] is None else int(value["launches"]),
            sm_clock_hz=None if value["sm_clock_mhz"] is None else value["sm_clock_mhz"] / MHZ,
            after=Telemetry(
                power_w=power_w[cell][side],
                temperature_c=temperature_c[cell][side],
                throttle_reasons=None if bits is None else int(bits),
            ),
            voids=voids.get((cell, side, number), []),
        )

    def side(cell: int, number: int) -> Side:
        return Side(
            blocks=[block(cell, number, each) for each in range(counts[cell][number])],
            failure=failures.get((cell, number)),
            caches=caches[cell][number],
        )

    return Round(
        index=kept.index,
        head_slot=kept.head_slot,
        started_at=kept.started_at,
        wall_s=kept.wall_s,
        opening_s=kept.opening_s,
        cells=[CellRound(key=info.key, head=side(cell, 0), base=side(cell, 1)) for cell, info in enumerate(infos)],
    )


def _record_header(header: CorpusHeader) -> RecordHeader:
    return RecordHeader(
        schema=SCHEMA,
        solwatch=header.solwatch,
        command=header.command,
        created_at=header.created_at,
        machine=header.machine,
        seed=header.seed,
        head=header.head,
        base=header.base,
        config=header.config,
        fingerprint=header.fingerprint,
        ceilings=header.ceilings,
        cells=header.cells,
        work=header.work,
        notes=header.notes,
        base_fingerprint=header.base_fingerprint,
        head_env=header.head_env,
        base_env=header.base_env,
    )


def _short(value: float | None, factor: float, digits: int) -> float | int | None:
    """Return ``value`` × ``factor`` with so many digits, as an integer where it is one: that is two characters less."""
    if value is None or not math.isfinite(value * factor):
        return None
    short = float(f"{value * factor:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _sample(value: float | None, factor: float) -> list[float]:
    return [] if value is None else [value / factor]


def _readings(side: Side) -> list[Telemetry]:
    return [reading for block in side.blocks for reading in (block.before, block.after) if reading is not None]


def _throttle_reasons(block: Block) -> int | None:
    bits = [
        reading.throttle_reasons
        for reading in (block.before, block.after)
        if reading is not None and reading.throttle_reasons is not None
    ]
    return functools.reduce(operator.or_, bits) if bits else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None
