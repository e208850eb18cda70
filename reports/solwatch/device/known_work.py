"""Cells whose amount of work is known: what a selftest plants slowdowns in.

A call is a number of equal steps, and its result tells how many were taken. A slowdown of p is p times as many steps
more, so its size is true by construction, whatever a step takes here.
"""

import os
from collections.abc import Callable
from typing import Any

import torch

from solwatch.device.kernels import Kernels
from solwatch.model.cell import Cell, Work

GPU_STEPS = {"short": 4_000, "long": 40_000}
"""Some tens and some hundreds of microseconds: a step is a multiplication and a turn of a loop, about 15 cycles."""

CPU_STEPS = {"short": 200, "long": 1_000}
CPU_ELEMENTS = 4096
"""16 KiB, which the first-level cache holds, and few enough that torch takes one thread."""


def gpu_cell(length: str, slowdown: float) -> Cell:
    """Return ``length`` (``short``, ``long``) on a GPU, with ``slowdown`` (a fraction) more steps."""
    steps = GPU_STEPS[length]
    count = round(steps * (1 + slowdown))

    def make_inputs(device: str, seed: int) -> dict[str, Any]:
        properties = torch.cuda.get_device_properties(device)
        return {
            "kernels": Kernels((properties.major, properties.minor), properties.multi_processor_count),
            "out": torch.empty(1, dtype=torch.int64, device=device),
        }

    def call(kernels: Kernels, out: torch.Tensor) -> None:
        kernels.steps(torch.cuda.current_stream().cuda_stream, count, out.data_ptr())

    def check(kernels: Kernels, out: torch.Tensor) -> None:
        assert int(out) == after_steps(count), f"the result is not that of {count} steps"

    return _cell(make_inputs, call, check, flops=2.0 * steps, traffic_bytes=8.0)


def cpu_cell(length: str, slowdown: float) -> Cell:
    """Return ``length`` (``short``, ``long``) on a CPU, with ``slowdown`` (a fraction) more steps."""
    steps = CPU_STEPS[length]
    count = round(steps * (1 + slowdown))

    def make_inputs(device: str, seed: int) -> dict[str, Any]:
        _stay_on_one_core()
        return {"x": torch.ones(CPU_ELEMENTS, device=device), "out": torch.empty(CPU_ELEMENTS, device=device)}

    def call(x: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(x)
        for _ in range(count - 1):
            out.add_(x)

    def check(x: torch.Tensor, out: torch.Tensor) -> None:
        assert bool((out == count).all()), f"the result is not that of {count} steps"

    return _cell(make_inputs, call, check, flops=float(steps * CPU_ELEMENTS), traffic_bytes=8.0 * CPU_ELEMENTS)


def _stay_on_one_core() -> None:
    """Measure on the last core from now on, as the other side does: what else is done there slows both.

    Cores of a virtual machine differ for seconds by half, as their neighbours on the host have work or none. Sides that
    the kernel has put on two of them would differ as much.
    """
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def after_steps(count: int) -> int:
    """Return what ``solwatch_steps`` leaves after ``count`` steps."""
    x = 0
    for _ in range(count):
        x = (1664525 * x + 1013904223) % 2**32
    return x


def _cell(
    make_inputs: Callable[[str, int], dict[str, Any]],
    call: Callable[..., None],
    check: Callable[..., None],
    *,
    flops: float,
    traffic_bytes: float,
) -> Cell:
    # The work is that of the cell without a slowdown: more steps do not make more of it.
    work = Work(flops=flops, traffic_bytes=traffic_bytes, dtype="float32")
    return Cell(make_inputs=make_inputs, call=call, work=work, check=check)
