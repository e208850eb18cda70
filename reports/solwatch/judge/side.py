"""The facts of one side of one cell, gathered over its rounds."""

from collections.abc import Sequence
from itertools import chain

from solwatch.judge.judgement import DeviceState, SideFacts
from solwatch.judge.thresholds import INTERVAL_LEVEL
from solwatch.model.cell import Work
from solwatch.model.record import Block, Ceilings, Side
from solwatch.sol.score import CeilingKind, Score, ceiling_excess, score, sol_limit
from solwatch.stats.centre import trimmed_mean
from solwatch.stats.ratio import time_estimate


def side_facts(sides: Sequence[Side], times: Sequence[float], work: Work | None, ceilings: Ceilings) -> SideFacts:
    """Return the facts of one side; ``times`` are the centres of the rounds that have one, in the cell's unit.

    A time below a rated T_SOL gets no score here: ``rated_excess`` says it, and the cell is void.
    """
    blocks = [block for side in sides for block in side.blocks if not block.voids]
    time = time_estimate(times, INTERVAL_LEVEL)
    state = device_state(blocks or [block for side in sides for block in side.blocks])
    point = time.point if time is not None else None
    fallbacks = [block.fallback for block in blocks if block.fallback]
    launches = [block.launches for block in blocks if block.launches is not None]
    return SideFacts(
        time=time,
        null_s=trimmed_mean(chain.from_iterable(block.null_s for block in blocks)),
        score=_score(work, point, ceilings, state.sm_clock_hz),
        energy_j=_mean([side.energy_j for side in sides]),
        hot_s=_mean([side.hot_s for side in sides]),
        launches=max(launches) if launches else None,
        timers=list(dict.fromkeys(block.timer for block in blocks)),
        fallback=fallbacks[0] if fallbacks else None,
        number=blocks[-1].number if blocks else None,
        samples=sum(len(block.samples_s) for block in blocks),
        state=state,
        caches=list(dict.fromkeys(side.caches for side in sides if side.caches)),
        failures=[side.failure for side in sides if side.failure is not None],
    )


def rated_excess(work: Work | None, time_s: float | None, ceilings: Ceilings) -> str | None:
    """Return a sentence when ``time_s`` is below the rated T_SOL: it can't be true."""
    return _excess(work, time_s, ceilings, CeilingKind.RATED)


def measured_excess(work: Work | None, time_s: float | None, ceilings: Ceilings) -> str | None:
    """Return a sentence when ``time_s`` beats a ceiling that was only measured: the ceiling is too low."""
    return _excess(work, time_s, ceilings, CeilingKind.MEASURED)


def _excess(work: Work | None, time_s: float | None, ceilings: Ceilings, kind: CeilingKind) -> str | None:
    limit = sol_limit(work, ceilings) if work is not None else None
    if limit is None or time_s is None or limit.kind is not kind:
        return None
    return ceiling_excess(limit, time_s)


def _score(work: Work | None, time_s: float | None, ceilings: Ceilings, clock_hz: float | None) -> Score | None:
    if work is None or time_s is None or rated_excess(work, time_s, ceilings):
        return None
    return score(work, time_s, ceilings, sm_clock_hz=clock_hz)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def device_state(blocks: Sequence[Block]) -> DeviceState:
    """Return what the readings around ``blocks`` come to: mean clock, highest power and temperature, all reasons."""
    readings = [reading for block in blocks for reading in (block.before, block.after) if reading is not None]
    temperatures = [reading.temperature_c for reading in readings if reading.temperature_c is not None]
    powers = [reading.power_w for reading in readings if reading.power_w is not None]
    reasons = [reading.throttle_reasons for reading in readings if reading.throttle_reasons is not None]
    together = 0
    for bits in reasons:
        together |= bits
    return DeviceState(
        sm_clock_hz=_mean([block.sm_clock_hz for block in blocks]),
        temperature_c=max(temperatures, default=None),
        power_w=max(powers, default=None),
        throttle_reasons=together if reasons else None,
        violation_s=_violations(blocks),
        other_processes=sorted({process for reading in readings for process in reading.other_processes}),
    )


def _violations(blocks: Sequence[Block]) -> dict[str, float]:
    moved: dict[str, float] = {}
    for block in blocks:
        if block.before is None or block.after is None:
            continue
        for reason, after_s in block.after.violation_s.items():
            delta_s = after_s - block.before.violation_s.get(reason, after_s)
            if delta_s > 0:
                moved[reason] = moved.get(reason, 0.0) + delta_s
    return moved
