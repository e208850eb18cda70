"""The common loop of the GPU timers: flush, call, flush, null kernel, in gated chunks, the calls' buffers in rotation.

``held`` gates plain calls, ``graph`` gates replays of graphs captured from them; both are lists of shots here.
"""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from solwatch.device.launch_slots import SLOTS
from solwatch.device.stage import Stage

Shot = Callable[[], Any]
"""One call on one buffer set, without arguments."""

QUEUE_COMMANDS = 240
"""At most this many commands in a chunk. Two chunks are in flight and the launch queue is 1024 deep; a full queue
behind a closed gate blocks the host, which then never opens it."""

OWN_COMMANDS = 7 + 2 * (SLOTS - 1)
"""Of a sample: two flushes, a null kernel, four events, twice the launches that vary the slot."""

LEAST_SAMPLES = 3
UNROLLED_BELOW_S = 5e-6
UNROLLED_S = 10e-6
LEAD_IN_S = 0.5e-3
"""Flushing before the first sample of a block, so that clocks and the context are up."""

GATE_OPENED = "gate_opened_by_watchdog"


@dataclass
class Samples:
    """Seconds per call, seconds of the null kernel in turn with them, and what makes them void."""

    samples_s: list[float] = field(default_factory=list)
    null_s: list[float] = field(default_factory=list)
    voids: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Pace:
    """How a cell is sampled: ``number`` calls unrolled in a sample, ``launches`` in a call, ``call_s`` its guess."""

    number: int
    launches: int
    call_s: float

    @property
    def commands(self) -> int:
        """Commands that one sample enqueues at most."""
        return self.number * self.launches + OWN_COMMANDS


def plain_shots(call: Callable[..., Any], sets: Sequence[Mapping[str, Any]]) -> list[Shot]:
    """Return one plain call for each buffer set; its result is dropped at once, so that its memory serves the next."""
    return [partial(call, **tensors) for tensors in sets]


def unrolled(call_s: float, launches: int) -> int:
    """Return how many calls one sample holds: one, or enough to fill 10 µs for a call under 5 µs."""
    if call_s >= UNROLLED_BELOW_S:
        return 1
    wanted = math.ceil(UNROLLED_S / max(call_s, 0.2e-6))
    return max(1, min(wanted, (QUEUE_COMMANDS - OWN_COMMANDS) // max(launches, 1)))


def fits_queue(launches: int) -> bool:
    """Return whether one call's launches fit behind a closed gate."""
    return launches + OWN_COMMANDS <= QUEUE_COMMANDS


def gated_samples(stage: Stage, shots: Sequence[Shot], pace: Pace, *, deadline: float, target_s: float) -> Samples:
    """Take samples until ``deadline`` of the stage's clock, at least three.

    While the GPU works on one chunk the host enqueues the next behind the gate. Times of unrolled calls are
    divided by their number. A chunk whose gate the watchdog opened is dropped and the samples are void.
    """
    taken = Samples()
    opened = stage.gate.opened_by_watchdog
    in_flight: deque[list[tuple[Any, Any, Any, Any]]] = deque()
    size = _chunk_size(stage, pace, target_s)
    _lead_in(stage, shots)
    turn = 0
    while len(taken.samples_s) < LEAST_SAMPLES or stage.clock() < deadline:
        stage.gate.hold(stage.handle)
        try:
            chunk = []
            for _ in range(size):
                chunk.append(_enqueue_sample(stage, shots, turn, pace))
                turn += pace.number
        finally:
            stage.gate.release()
        in_flight.append(chunk)
        if stage.gate.opened_by_watchdog != opened:
            taken.voids.append(GATE_OPENED)
            break
        if len(in_flight) > 1:
            _collect(stage, in_flight.popleft(), pace.number, taken)
    while in_flight:
        _collect(stage, in_flight.popleft(), pace.number, taken)
    return taken


def gated_duration(stage: Stage, shots: Sequence[Shot], launches: int) -> float:
    """Return seconds per call of some calls enqueued behind the gate: the GPU's share without the host's."""
    calls = max(1, min(8, QUEUE_COMMANDS // max(launches, 1)))
    stage.gate.hold(stage.handle)
    try:
        start = stage.mark()
        for index in range(calls):
            shots[index % len(shots)]()
        end = stage.mark()
    finally:
        stage.gate.release()
    stage.wait(end)
    stage.recycle(start, end)
    return stage.seconds(start, end) / calls


def _chunk_size(stage: Stage, pace: Pace, target_s: float) -> int:
    sample_s = 2 * stage.flush_s + pace.number * pace.call_s + 5e-6
    size = max(1, min(QUEUE_COMMANDS // pace.commands, int(target_s / 6 / sample_s)))
    return size if size < SLOTS else size // SLOTS * SLOTS


def _lead_in(stage: Stage, shots: Sequence[Shot]) -> None:
    for _ in range(max(2, min(40, round(LEAD_IN_S / stage.flush_s)))):
        stage.flush()
    shots[-1]()
    stage.null()


def _enqueue_sample(stage: Stage, shots: Sequence[Shot], turn: int, pace: Pace) -> tuple[Any, Any, Any, Any]:
    stage.vary("call")
    stage.flush()
    start = stage.mark()
    for offset in range(pace.number):
        shots[(turn + offset) % len(shots)]()
    stage.launched(pace.number * pace.launches)
    end = stage.mark()
    stage.vary("null")
    stage.flush()
    null_start = stage.mark()
    stage.null()
    return start, end, null_start, stage.mark()


def _collect(stage: Stage, chunk: list[tuple[Any, Any, Any, Any]], number: int, taken: Samples) -> None:
    stage.wait(chunk[-1][-1])
    for start, end, null_start, null_end in chunk:
        taken.samples_s.append(stage.seconds(start, end) / number)
        taken.null_s.append(stage.seconds(null_start, null_end))
        stage.recycle(start, end, null_start, null_end)
