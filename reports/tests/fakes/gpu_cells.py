"""Real cells that tests and the smoke run on a GPU share: torch.addmm, a spin of known duration, bad behaviour."""

from functools import partial

import torch

from solwatch.device.stage import Stage
from solwatch.model.cell import Cell, Timer, Work

N = K = 4096


def addmm_cell(rows: int, timer: Timer | None = None, *, layer: tuple[int, int] = (N, K)) -> Cell:
    """Return torch.addmm into a new tensor, bf16, N(0,1)."""
    n, k = layer

    def make_inputs(device: str, seed: int) -> dict[str, torch.Tensor]:
        generator = torch.Generator(device).manual_seed(seed)
        sizes = {"attn_output": (rows, k), "residual": (rows, n), "weight": (n, k)}
        return {name: torch.randn(size, generator=generator, device=device).bfloat16() for name, size in sizes.items()}

    def call(attn_output: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.addmm(residual, attn_output, weight.t())

    work = Work(flops=2.0 * rows * n * k, traffic_bytes=2.0 * (rows * k + 2 * rows * n + n * k), dtype="bfloat16")
    return Cell(make_inputs=make_inputs, call=call, work=work, check=lambda **_: None, timer=timer)


def spin_cell(stage: Stage, duration_s: float, timer: Timer | None) -> Cell:
    """Return a kernel that spins for ``duration_s`` on the stage's stream."""

    def make_inputs(device: str, seed: int) -> dict[str, torch.Tensor]:
        return {"unused": torch.zeros(64, device=device)}

    def call(unused: torch.Tensor) -> None:
        stage.kernels.spin(torch.cuda.current_stream().cuda_stream, duration_s)

    work = Work(flops=1.0, traffic_bytes=1.0, dtype="float32")
    return Cell(make_inputs=make_inputs, call=call, work=work, check=lambda **_: None, timer=timer)


def misbehaving_cells(stage: Stage) -> dict[str, Cell]:
    """Return cells that synchronise, allocate, leave the stream, launch very often or hardly last."""
    other = torch.cuda.Stream()

    def inputs(size: int, device: str, seed: int) -> dict[str, torch.Tensor]:
        return {"x": torch.randn(size, device=device), "out": torch.empty(size, device=device)}

    def synchronises(x: torch.Tensor, out: torch.Tensor) -> None:
        torch.mul(x, 2, out=out)
        torch.cuda.synchronize()

    def reads_back(x: torch.Tensor, out: torch.Tensor) -> None:
        torch.mul(x, float(x[0]), out=out)

    def leaves(x: torch.Tensor, out: torch.Tensor) -> None:
        with torch.cuda.stream(other):
            torch.mul(x, 2, out=out)

    def forks_and_joins(x: torch.Tensor, out: torch.Tensor) -> None:
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            torch.mul(x, 2, out=out)
        torch.cuda.current_stream().wait_stream(other)

    def uses_legacy_stream(x: torch.Tensor, out: torch.Tensor) -> None:
        with torch.cuda.stream(torch.cuda.default_stream()):
            torch.mul(x, 2, out=out)

    def allocates(x: torch.Tensor, out: torch.Tensor) -> None:
        torch.mul(torch.empty(300 << 20, dtype=torch.uint8, device=x.device)[: x.numel()].float(), 2, out=out)
        torch.cuda.empty_cache()

    def launches_often(x: torch.Tensor, out: torch.Tensor) -> None:
        for _ in range(300):
            torch.mul(x, 2, out=out)

    def multiplies(x: torch.Tensor, out: torch.Tensor) -> None:
        torch.mul(x, 2, out=out)

    work = Work(flops=1.0, traffic_bytes=1.0, dtype="float32")
    calls = [
        synchronises, reads_back, leaves, forks_and_joins, uses_legacy_stream, allocates, launches_often, multiplies,
    ]  # fmt: skip
    return {
        call.__name__: Cell(
            make_inputs=partial(inputs, 1 << 10 if call is multiplies else 1 << 22),
            call=call,
            work=work,
            check=lambda **_: None,
        )
        for call in calls
    }
