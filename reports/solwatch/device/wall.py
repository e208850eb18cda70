"""The wall-clock timer: for calls that are over when they return, as on a CPU."""

import gc
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

SAMPLE_S = 1e-3
"""A sample lasts at least this long where calls are short enough, so that the clock's step doesn't matter."""

LEAST_SAMPLES = 3


def calls_per_sample(call_s: float, *, sample_s: float = SAMPLE_S, most: int = 10_000) -> int:
    """Return how many calls of ``call_s`` seconds fill one sample."""
    return max(1, min(most, math.ceil(sample_s / max(call_s, 1e-9))))


def wall_samples(
    call: Callable[..., Any],
    sets: Sequence[Mapping[str, Any]],
    clock: Callable[[], float],
    *,
    number: int,
    deadline: float,
) -> tuple[list[float], list[float]]:
    """Time ``call`` over ``sets`` in rotation until ``deadline`` of ``clock``, at least three samples.

    Returns seconds per call, and in turn with them seconds per call of a function that does nothing.
    """
    samples_s: list[float] = []
    null_s: list[float] = []
    turn = 0
    while len(samples_s) < LEAST_SAMPLES or clock() < deadline:
        chosen = [sets[(turn + offset) % len(sets)] for offset in range(number)]
        turn += number
        started = clock()
        for tensors in chosen:
            call(**tensors)
        called = clock()
        for tensors in chosen:
            _nothing(**tensors)
        null_s.append((clock() - called) / number)
        samples_s.append((called - started) / number)
    return samples_s, null_s


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Keep Python's collector from running inside a sample."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _nothing(**tensors: Any) -> None:
    return None
