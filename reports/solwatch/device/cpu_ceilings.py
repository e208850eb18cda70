"""What this processor sustains: bandwidth by copying and reading, throughput by multiplying matrices."""

import time
from collections.abc import Callable
from functools import partial

import torch

from solwatch.device.host import available_memory_bytes, last_level_cache_bytes
from solwatch.model.record import Ceilings

BANDWIDTH_S = 0.6
THROUGHPUT_S = 1.2
"""Time for each ceiling in seconds; a ceiling is the best of what was seen in it."""

_FIRST_SIDE = 512
_LAST_SIDE = 4096
_MULTIPLIED = ("bfloat16", "float16", "float32", "float64")


def measure_cpu_ceilings(dtypes: list[str], clock: Callable[[], float] = time.perf_counter) -> Ceilings:
    """Return the sustained ceilings with the threads that torch uses now; a processor has no rated ones here.

    ``dtypes`` that can't be multiplied on a CPU are left out.
    """
    threads = torch.get_num_threads()
    return Ceilings(
        sustained_flops={name: _throughput(name, clock) for name in dtypes if name in _MULTIPLIED},
        sustained_bandwidth=_bandwidth(clock),
        source=f"measured on this processor with {threads} thread{'' if threads == 1 else 's'}: "
        "best of copying and reading beyond the last-level cache, best matrix product",
    )


def _bandwidth(clock: Callable[[], float]) -> float:
    """Return bytes/s: copies count bytes read and written, sums count bytes read; the better of both.

    A product with few rows mostly reads, and reading alone can be faster than copying.
    """
    wanted = 4 * last_level_cache_bytes()
    size = max(1 << 26, min(wanted, available_memory_bytes() // 6, 1 << 30)) // 4
    source = torch.ones(size, dtype=torch.float32)
    target = torch.empty_like(source)
    copy_s = _best_s(lambda: target.copy_(source), BANDWIDTH_S / 2, clock)
    read_s = _best_s(source.sum, BANDWIDTH_S / 2, clock)
    return max(2 * 4 * size / copy_s, 4 * size / read_s)


def _throughput(name: str, clock: Callable[[], float]) -> float:
    """Return FLOP/s of a square product, the side doubled as long as that is faster and fits the time."""
    dtype = getattr(torch, name)
    deadline = clock() + THROUGHPUT_S
    side = _FIRST_SIDE
    best = 0.0
    while True:
        generator = torch.Generator().manual_seed(side)
        left = torch.randn(side, side, generator=generator).to(dtype)
        right = torch.randn(side, side, generator=generator).to(dtype)
        # Layouts of a linear layer: rows times rows, which every BLAS has its best kernel for.
        seconds = _best_s(partial(torch.nn.functional.linear, left, right), THROUGHPUT_S / 4, clock)
        best = max(best, 2 * side**3 / seconds)
        remaining = deadline - clock()
        if side >= _LAST_SIDE or remaining < 8 * 2 * seconds:
            return best
        side *= 2


def _best_s(work: Callable[[], object], duration_s: float, clock: Callable[[], float]) -> float:
    work()
    best = float("inf")
    deadline = clock() + duration_s
    while True:
        started = clock()
        work()
        ended = clock()
        best = min(best, ended - started)
        if ended >= deadline:
            return best
