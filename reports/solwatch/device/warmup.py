"""Warm up until nothing compiles or tunes any more, for a bounded time."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from solwatch.device.caches import CacheWatch

AGREEMENT = 0.1
"""Two batches whose times differ by less than this fraction agree."""

MOST_BATCHES = 12
"""A noisy machine never agrees: after so many batches without a sign of compiling, times are left to the statistics."""


@dataclass(frozen=True)
class WarmUp:
    """What warming up found: seconds per call in the fastest batch, and whether compiling ended."""

    call_s: float
    batches: int
    settled: bool


def warm_up(batch: Callable[[], float], caches: CacheWatch, clock: Callable[[], float], *, limit_s: float) -> WarmUp:
    """Run ``batch`` (which returns seconds per call) until it is steady and leaves no trace of compiling.

    A trace is a new file in a cache or a newly imported module. Stops after ``limit_s`` seconds of ``clock``
    with ``settled`` false when traces never end.
    """
    deadline = clock() + limit_s
    times: list[float] = []
    quiet = 0
    while True:
        before = _traces(caches)
        times.append(batch())
        quiet = quiet + 1 if _traces(caches) == before else 0
        if quiet >= 2 and (_agree(times[-2], times[-1]) or quiet >= MOST_BATCHES):
            return WarmUp(min(times[-2:]), len(times), settled=True)
        if clock() >= deadline:
            return WarmUp(min(times[-2:]), len(times), settled=quiet >= 1)


def _traces(caches: CacheWatch) -> tuple[int, frozenset[tuple[str, int]]]:
    return len(sys.modules), caches.listing()


def _agree(first: float, second: float) -> bool:
    return abs(first - second) <= AGREEMENT * min(first, second)
