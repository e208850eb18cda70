"""What needs a GPU: the kernels that the driver names, and a call between a profiler's marks."""

from typing import Any

import pytest
import torch

from solwatch.model.cell import Cell, Work

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
]


@pytest.fixture
def cell() -> Cell:
    def make_inputs(device: str, seed: int) -> dict[str, Any]:
        return {"x": torch.ones(1 << 20, device=device), "out": torch.empty(1 << 20, device=device)}

    return Cell(
        make_inputs=make_inputs,
        call=lambda x, out: torch.add(x, x, out=out),
        work=Work(flops=1 << 20, traffic_bytes=8 << 20, dtype="float32"),
        check=lambda x, out: None,
    )


def test_the_driver_names_the_kernel_and_its_occupancy(cell: Cell) -> None:
    from solwatch.device.cuda import CudaDevice

    device = CudaDevice(0, seed=1)
    try:
        called = device.prepare(cell, seed=1, check=False).called
    finally:
        device.release()
    assert called is not None
    assert called.launches is not None
    (launch,) = called.launches
    assert "elementwise" in launch.kernel
    assert launch.threads >= 32
    assert launch.registers
    assert launch.blocks_per_sm


def test_a_call_between_marks_is_made(cell: Cell) -> None:
    from solwatch.device.profiled import call_between_marks

    seen: list[bool] = []

    def call(x: torch.Tensor, out: torch.Tensor) -> None:
        torch.add(x, x, out=out)
        seen.append(True)

    call_between_marks(
        Cell(make_inputs=cell.make_inputs, call=call, work=cell.work, check=cell.check), "cuda:0", seed=1
    )
    assert len(seen) == 4
