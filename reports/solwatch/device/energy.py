"""Time and energy of a call run hot: back to back on one buffer set, caches warm, for at least half a second."""

from collections import deque
from typing import Any

from solwatch.device.nvml import Gpu
from solwatch.device.sampler import Shot
from solwatch.device.stage import Stage
from solwatch.model.protocol import EnergyMeasured

LEAST_LOOP_S = 0.5
"""The energy counter moves every 20 to 100 ms: shorter loops read its steps."""

_BATCH_S = 5e-3
_BATCHES_IN_FLIGHT = 3
_MOST_SHOTS = 200


def measure_hot(stage: Stage, gpu: Gpu, shot: Shot, calls_per_shot: int, *, loop_s: float) -> EnergyMeasured:
    """Repeat ``shot`` for ``loop_s`` seconds, half a second at least, and return seconds and joules per call.

    Joules are the whole board's, idle power included, ``None`` where NVML has no counter. Batches of 5 ms are
    kept in flight, so that the GPU never waits for the host unless a shot is shorter than its launch.
    """
    for _ in range(3):
        shot()
    shot_s = max(_batch(stage, shot, 5) / 5, 1e-7)
    shots = max(1, min(_MOST_SHOTS, round(_BATCH_S / shot_s)))
    in_flight: deque[Any] = deque()
    count = 0
    energy_before_j = gpu.energy_j()
    started = stage.clock()
    start = stage.mark()
    while stage.clock() - started < max(loop_s, LEAST_LOOP_S):
        for _ in range(shots):
            shot()
        count += shots
        in_flight.append(stage.mark())
        if len(in_flight) > _BATCHES_IN_FLIGHT:
            oldest = in_flight.popleft()
            stage.wait(oldest)
            stage.recycle(oldest)
    end = stage.mark()
    stage.wait(end)
    energy_after_j = gpu.energy_j()
    hot_s = stage.seconds(start, end) / (count * calls_per_shot)
    stage.recycle(start, end, *in_flight)
    if energy_before_j is None or energy_after_j is None:
        return EnergyMeasured(hot_s=hot_s, energy_j=None)
    return EnergyMeasured(hot_s=hot_s, energy_j=(energy_after_j - energy_before_j) / (count * calls_per_shot))


def _batch(stage: Stage, shot: Shot, shots: int) -> float:
    start = stage.mark()
    for _ in range(shots):
        shot()
    end = stage.mark()
    stage.wait(end)
    stage.recycle(start, end)
    return stage.seconds(start, end)
