"""What a GPU is rated for by the clocks and widths it reports, and what it sustains."""

import time
from collections.abc import Callable
from functools import partial

import torch

from solwatch.device.nvml import Gpu
from solwatch.device.stage import Stage
from solwatch.model.record import Ceilings
from solwatch.sol.throughput import RatedDevice, rated_ceilings

COPY_BYTES = 4 << 30
SIDE = 8192
BURST_S = 0.02
BURSTS = 5
"""A sustained ceiling is the best of so many bursts with as much rest before each."""

_MULTIPLIED = ("bfloat16", "float16", "float32", "float64")


def measure_cuda_ceilings(stage: Stage, gpu: Gpu, dtypes: list[str]) -> Ceilings:
    """Return rated ceilings, and sustained ones: a copy of 4 GB, products of 8192³ on N(0,1) data.

    ``dtypes`` that torch doesn't multiply by ``matmul`` have no sustained figure. ``float32`` is true single
    precision, not TF32. Where NVML doesn't tell clocks or width, nothing is rated.
    """
    rated = _rated(stage, gpu)
    with torch.cuda.stream(stage.stream), torch.no_grad():
        bandwidth = _copy_bandwidth(stage)
        flops = {name: _throughput(stage, name) for name in dtypes if name in _MULTIPLIED}
        torch.cuda.empty_cache()
    return Ceilings(
        rated_flops=rated.rated_flops,
        rated_bandwidth=rated.rated_bandwidth,
        rated_clock_hz=rated.rated_clock_hz,
        sustained_flops=flops,
        sustained_bandwidth=bandwidth,
        source=rated.source,
        verified=rated.verified,
    )


def _rated(stage: Stage, gpu: Gpu) -> Ceilings:
    sm_clock_hz, memory_clock_hz = gpu.maximum_clocks_hz()
    bus_width_bits = gpu.bus_width_bits()
    if sm_clock_hz is None or memory_clock_hz is None or bus_width_bits is None:
        return Ceilings(source=f"NVML tells no clocks or bus width ({gpu.lost or 'not supported'}): nothing is rated")
    properties = stage.properties
    return rated_ceilings(
        RatedDevice(
            name=properties.name,
            capability=(properties.major, properties.minor),
            sm_count=properties.multi_processor_count,
            sm_clock_hz=sm_clock_hz,
            memory_clock_hz=memory_clock_hz,
            bus_width_bits=bus_width_bits,
        )
    )


def _copy_bandwidth(stage: Stage) -> float:
    """Return bytes/s read plus written by device-to-device copies, the largest up to 4 GB that fits."""
    free, _ = torch.cuda.mem_get_info(stage.device)
    size = min(COPY_BYTES, int(free * 0.4))
    source = torch.ones(size, dtype=torch.uint8, device=stage.device)
    target = torch.empty_like(source)
    return 2 * size / _sustained_s(stage, partial(target.copy_, source))


def _throughput(stage: Stage, name: str) -> float:
    dtype = getattr(torch, name)
    left = torch.randn(SIDE, SIDE, device=stage.device).to(dtype)
    right = torch.randn(SIDE, SIDE, device=stage.device).to(dtype)
    product = torch.empty(SIDE, SIDE, device=stage.device, dtype=dtype)
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        return 2 * SIDE**3 / _sustained_s(stage, partial(torch.matmul, left, right.t(), out=product))
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed


def _sustained_s(stage: Stage, work: Callable[[], object]) -> float:
    """Return seconds per repeat in the best of some bursts.

    Back to back for a quarter of a second, a large product heats the card until its clock falls below what a
    single kernel sees: a ceiling taken so would be beaten by honest kernels.
    """
    work()
    once_s = _timed_s(stage, work, 1)
    repeats = max(3, round(BURST_S / once_s))
    bursts = []
    for _ in range(BURSTS):
        time.sleep(BURST_S)
        bursts.append(_timed_s(stage, work, repeats))
    return min(bursts)


def _timed_s(stage: Stage, work: Callable[[], object], repeats: int) -> float:
    start = stage.mark()
    for _ in range(repeats):
        work()
    end = stage.mark()
    stage.wait(end)
    stage.recycle(start, end)
    return stage.seconds(start, end) / repeats
