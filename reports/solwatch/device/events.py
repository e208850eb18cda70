"""The ``events`` timer, for calls that a closed gate can't hold, with the wall clock as its witness.

A call that synchronises or allocates runs with the stream open. Events cover only the stream they are on: when
the whole device is busy for longer than they say, the call has work on another stream, and the wall clock around
a device-wide synchronisation takes over.
"""

from collections.abc import Sequence

from solwatch.device.sampler import LEAST_SAMPLES, Samples, Shot
from solwatch.device.stage import Stage

ESCAPE_FRACTION = 0.1
ESCAPE_S = 10e-6
"""Work on other streams shows when the wall clock sees this much more than the events, beyond what the null kernel's
own synchronisation costs."""

_FLUSHES = 2
"""Two flushes in front give the host about 60 µs to enqueue the call before its turn comes."""


def event_samples(stage: Stage, shots: Sequence[Shot], number: int, *, deadline: float) -> Samples:
    """Take samples between events, the device idle before each; at least three, until ``deadline``."""
    taken = Samples()
    turn = 0
    while len(taken.samples_s) < LEAST_SAMPLES or stage.clock() < deadline:
        taken.samples_s.append(_between_events(stage, shots, turn, number, "call") / number)
        taken.null_s.append(_between_events(stage, [stage.null], 0, 1, "null"))
        turn += number
    return taken


def device_wall_samples(stage: Stage, shots: Sequence[Shot], number: int, *, deadline: float) -> Samples:
    """Take samples of the wall clock around calls and a device-wide synchronisation; the null kernel likewise."""
    taken = Samples()
    turn = 0
    while len(taken.samples_s) < LEAST_SAMPLES or stage.clock() < deadline:
        taken.samples_s.append(_wall_and_events(stage, shots, turn, number)[0] / number)
        taken.null_s.append(_wall_and_events(stage, [stage.null], 0, 1)[0])
        turn += number
    return taken


def work_outside_events(stage: Stage, shots: Sequence[Shot]) -> str | None:
    """Return why events don't cover the call, ``None`` when they do.

    The least excess of a few repeats decides, and only when more repeats confirm it: a host that is busy
    elsewhere makes single ones long.
    """
    for repeats in (5, 20):
        escaped_s, covered_s = _least_excess(stage, shots, repeats)
        if escaped_s <= max(ESCAPE_S, ESCAPE_FRACTION * covered_s):
            return None
    return f"{escaped_s * 1e6:.0f} us of its work run outside the current stream, timed with the whole device instead"


def _least_excess(stage: Stage, shots: Sequence[Shot], repeats: int) -> tuple[float, float]:
    """Return by how much the wall clock exceeds the events beyond the null kernel's, and the events' time."""
    excess_s, covered_s = min(
        (wall_s - event_s, event_s)
        for wall_s, event_s in (_wall_and_events(stage, shots, turn, 1) for turn in range(repeats))
    )
    usual_s = min(
        wall_s - event_s for wall_s, event_s in (_wall_and_events(stage, [stage.null], 0, 1) for _ in range(repeats))
    )
    return excess_s - usual_s, covered_s


def _between_events(stage: Stage, shots: Sequence[Shot], turn: int, number: int, what: str) -> float:
    stage.synchronize()
    stage.vary(what)
    for _ in range(_FLUSHES):
        stage.flush()
    start = stage.mark()
    for offset in range(number):
        shots[(turn + offset) % len(shots)]()
    end = stage.mark()
    stage.synchronize()
    stage.recycle(start, end)
    return stage.seconds(start, end)


def _wall_and_events(stage: Stage, shots: Sequence[Shot], turn: int, number: int) -> tuple[float, float]:
    stage.flush()
    stage.synchronize()
    started = stage.clock()
    start = stage.mark()
    for offset in range(number):
        shots[(turn + offset) % len(shots)]()
    end = stage.mark()
    stage.synchronize()
    wall_s = stage.clock() - started
    stage.recycle(start, end)
    return wall_s, stage.seconds(start, end)
