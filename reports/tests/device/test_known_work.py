"""Work of a known amount: as many steps as were asked, and a result that tells."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from solwatch.device.cpu import CpuDevice
from solwatch.device.known_work import CPU_STEPS, GPU_STEPS, after_steps, cpu_cell, gpu_cell
from solwatch.device.resolving import visible_gpus
from solwatch.model.cell import Cell

SIZES = (0.0, 0.003, 0.0125, 0.03, 0.05, 0.125, 0.5)


@pytest.fixture(autouse=True)
def all_cores() -> Iterator[None]:
    """Give the tests that follow the cores back."""
    cores = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, cores)


class Counted:
    """A tensor that counts what is done to it."""

    def __init__(self) -> None:
        self.steps = 0

    def copy_(self, x: Any) -> None:
        self.steps += 1

    def add_(self, x: Any) -> None:
        self.steps += 1


@pytest.mark.parametrize("length", list(CPU_STEPS))
def test_a_slowdown_is_that_many_steps_more(length: str) -> None:
    def steps(size: float) -> int:
        out = Counted()
        cpu_cell(length, size).call(x=None, out=out)
        return out.steps

    for size in SIZES:
        assert steps(size) / steps(0.0) - 1 == pytest.approx(size, abs=0.5 / CPU_STEPS[length])


def test_sizes_a_gpu_gets_are_whole_steps() -> None:
    for steps in GPU_STEPS.values():
        for size in (0.003, 0.0125, 0.02, 0.05):
            assert steps * size == pytest.approx(round(steps * size))


def test_the_check_tells_a_step_too_few() -> None:
    right, wrong = cpu_cell("short", 0.0), cpu_cell("short", 0.01)
    tensors = right.make_inputs("cpu", 1)
    right.call(**tensors)
    right.check(**tensors)
    with pytest.raises(AssertionError, match="not that of 202 steps"):
        wrong.check(**tensors)


def test_a_cpu_takes_it_as_any_cell_and_stays_on_one_core() -> None:
    device = CpuDevice(seed=1)
    cores = os.sched_getaffinity(0)
    prepared = device.prepare(cpu_cell("short", 0.5), seed=1, check=True)
    assert os.sched_getaffinity(0) == {max(cores)}
    assert prepared.work is not None
    assert prepared.work.flops == cpu_cell("short", 0.0).work.flops
    assert min(device.measure(0.01).samples_s) > 20e-6
    device.release()


def test_the_result_of_steps() -> None:
    assert after_steps(0) == 0
    assert after_steps(1) == 1013904223
    assert after_steps(3) == (1664525 * (1664525 * 1013904223 + 1013904223) + 1013904223) % 2**32


@pytest.mark.gpu
@pytest.mark.skipif(visible_gpus() == 0, reason="no GPU")
@pytest.mark.parametrize("length", list(GPU_STEPS))
def test_on_a_gpu_time_follows_the_steps(length: str) -> None:
    from solwatch.device.cuda import CudaDevice
    from solwatch.stats.centre import trimmed_mean

    device = CudaDevice(0, seed=1)

    def time_s(cell: Cell) -> float:
        prepared = device.prepare(cell, seed=1, check=True)
        assert (prepared.findings.timer, prepared.findings.launches, prepared.findings.obstacle) == ("held", 1, None)
        block = device.measure(0.05)
        call_s, null_s = trimmed_mean(block.samples_s), trimmed_mean(block.null_s)
        assert call_s is not None
        assert null_s is not None
        return call_s - null_s

    once, twice = time_s(gpu_cell(length, 0.0)), time_s(gpu_cell(length, 1.0))
    assert once > 5e-6
    assert twice / once == pytest.approx(2.0, rel=0.03)
