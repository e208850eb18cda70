"""The ``cupti`` timer: the kernels' own start and end stamps, which leave the launch path out.

Through torch's profiler, with the stream open: behind a closed gate profiling did not come to an end. A sample is
the span from the first start to the last end of a call's kernels, on whatever stream they ran.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from solwatch.device.sampler import LEAST_SAMPLES, Samples, Shot
from solwatch.device.stage import Stage
from solwatch.model.errors import MachineError

CALL_MARK = "solwatch_flush"
NULL_KERNEL = "solwatch_null"
_SAMPLES_PER_PROFILE = 64
_FLUSHES = 3
"""Flushes in front of a call give the host about 100 µs to enqueue it, so that no gap of the host is in its span."""


def cupti_samples(stage: Stage, shots: Sequence[Shot], number: int, *, deadline: float) -> Samples:
    """Take samples until ``deadline``, at least three; ``null_s`` is the span of the null kernel itself."""
    taken = Samples()
    turn = 0
    while len(taken.samples_s) < LEAST_SAMPLES or stage.clock() < deadline:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
            for _ in range(_SAMPLES_PER_PROFILE):
                for _ in range(_FLUSHES):
                    stage.flush()
                for offset in range(number):
                    shots[(turn + offset) % len(shots)]()
                turn += number
                stage.flush()
                stage.null()
            stage.synchronize()
        samples_s, null_s = spans(_device_events(profile))
        if not samples_s:
            raise MachineError("CUPTI recorded no kernel: is another profiler attached? Use the timer 'held'")
        # The profiler sets itself up during the first: gaps of the host lie between its kernels.
        taken.samples_s += [span / number for span in samples_s[1:]]
        taken.null_s += null_s[1:]
    return taken


def spans(events: Iterable[tuple[str, int, int]]) -> tuple[list[float], list[float]]:
    """Return the calls' spans and the null kernel's, in seconds, from ``(name, start_ns, end_ns)`` of each kernel.

    Flushes divide the calls; a stretch between two of them that holds only the null kernel is one of its samples.
    """
    samples_s: list[float] = []
    null_s: list[float] = []
    stretch: list[tuple[str, int, int]] = []
    for event in [*sorted(events, key=lambda event: event[1]), (CALL_MARK, 0, 0)]:
        if not event[0].startswith(CALL_MARK):
            stretch.append(event)
            continue
        if stretch:
            span = (max(end for _, _, end in stretch) - min(start for _, start, _ in stretch)) * 1e-9
            only_null = all(name.startswith(NULL_KERNEL) for name, _, _ in stretch)
            (null_s if only_null else samples_s).append(span)
        stretch = []
    return samples_s, null_s


def _device_events(profile: Any) -> list[tuple[str, int, int]]:
    events = profile.profiler.kineto_results.events()
    return [
        (event.name(), event.start_ns(), event.start_ns() + event.duration_ns())
        for event in events
        if event.device_type().name == "CUDA" and event.duration_ns() > 0
    ]
