"""Prints a short table: the operator against torch.addmm, L2 flushed by reading, medians in µs.

A quick look, not a measurement: the harness measures. Usage: python gpu_timings.py
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import torch

import fused_o_proj

LAYERS = ((4096, 4096), (8192, 8192), (7168, 16384), (2880, 4096))
TOKENS = (1, 16, 64, 256, 1024, 4096)


def median_us(call: Callable[[], object], flush: torch.Tensor, repeats: int = 20) -> float:
    """Median time of a call between two events, microseconds, each after a read of ``flush``."""
    samples: list[float] = []
    for repeat in range(repeats + 3):
        flush.sum()
        torch.cuda._sleep(200_000)  # type: ignore[no-untyped-call]  # the host gets ahead of the stream
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        begin.record()
        call()
        end.record()
        end.synchronize()
        if repeat >= 3:
            samples.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(samples)


def main() -> None:
    print(torch.cuda.get_device_name(), torch.__version__, fused_o_proj.build_info())
    flush = torch.ones(64 << 20, device="cuda")
    print("     M     N     K | fused µs  addmm µs  addmm/fused | tile")
    for n, k in LAYERS:
        for m in TOKENS:
            attn, residual, weight = (
                torch.randn(shape, device="cuda", dtype=torch.bfloat16) for shape in ((m, k), (m, n), (n, k))
            )
            fused = median_us(lambda: fused_o_proj.o_proj_residual(attn, residual, weight), flush)  # noqa: B023
            addmm = median_us(lambda: torch.addmm(residual, attn, weight.t()), flush)  # noqa: B023
            plan = fused_o_proj.explain((attn.shape, residual.shape, weight.shape), attn.dtype, "cuda")
            print(f"{m:6} {n:5} {k:5} | {fused:8.1f}  {addmm:8.1f}  {addmm / fused:11.2f} | {plan['tile']}", flush=True)


if __name__ == "__main__":
    main()
