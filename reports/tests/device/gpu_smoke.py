"""A look at the sampler on a real GPU: ``python gpu_smoke.py``. Prints one table a subject, the figures last.

Not a test: it asserts nothing. The tests that need a GPU are in test_cuda.py.
"""

import statistics
import sys
import time
from functools import partial

import torch

from solwatch.device.cuda import CudaDevice
from solwatch.device.stage import Stage
from solwatch.model.cell import Cell, Timer, Work

N = K = 4096


def addmm_cell(rows: int, timer: Timer | None = None, *, layer: tuple[int, int] = (N, K)) -> Cell:
    """Return torch.addmm into a new tensor, bf16, N(0,1)."""
    n, k = layer

    def make_inputs(device: str, seed: int) -> dict[str, torch.Tensor]:
        generator = torch.Generator(device).manual_seed(seed)
        sizes = {"attn_output": (rows, k), "residual": (rows, n), "weight": (n, k)}
        return {
            name: torch.randn(size, generator=generator, device=device).bfloat16() for name, size in sizes.items()
        }

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


def trimmed_mean(values: list[float]) -> float:
    """Return the mean without a tenth at each end: event times come in steps, which a median jumps by."""
    cut = len(values) // 10
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def row(device: CudaDevice, name: str, cell: Cell, target_s: float = 0.08) -> None:
    """Print one line of the table."""
    started = time.perf_counter()
    prepared = device.prepare(cell, seed=1, check=False)
    prepared_s = time.perf_counter() - started
    device.measure(target_s)
    started = time.perf_counter()
    block = device.measure(target_s)
    wall_s = time.perf_counter() - started
    stage = device._stage
    busy_s = len(block.samples_s) * (
        2 * stage.flush_s + trimmed_mean(block.samples_s) * block.number + trimmed_mean(block.null_s)
    )
    spread = statistics.pstdev(block.samples_s) / statistics.fmean(block.samples_s)
    print(
        f"{name:34s} {prepared.timer:7s} {trimmed_mean(block.samples_s) * 1e6:9.2f} "
        f"{trimmed_mean(block.null_s) * 1e6:6.2f} {spread:6.2%} n={len(block.samples_s):4d} k={block.number:2d} "
        f"l={prepared.launches} prep={prepared_s * 1e3:6.1f}ms wall={wall_s * 1e3:6.1f}ms busy={busy_s / wall_s:4.0%} "
        f"clk={(block.sm_clock_hz or 0) / 1e6:.0f} {','.join(block.voids)} {block.fallback or ''}"
    )


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


def main() -> None:
    """Print the tables."""
    started = time.perf_counter()
    device = CudaDevice(torch.cuda.current_device(), seed=7)
    stage = device._stage
    print(f"open {time.perf_counter() - started:.2f} s; gate by kernel: {stage.gate.waits_by_kernel}")
    print(device.fingerprint())
    print("L2", stage.l2_bytes, "flush", stage.flush_s * 1e6, "us")
    started = time.perf_counter()
    telemetry = device._gpu.telemetry()
    print(f"telemetry {(time.perf_counter() - started) * 1e3:.2f} ms", telemetry)
    started = time.perf_counter()
    device._gpu.instant()
    print(f"instant {(time.perf_counter() - started) * 1e3:.2f} ms")
    print("--- spin ruler")
    words = torch.zeros(2, dtype=torch.int64, device=stage.device)
    for duration_us in (10, 20, 100):
        spun = []
        for _ in range(20):
            stage.kernels.spin(stage.handle, duration_us * 1e-6, words.data_ptr())
            stage.synchronize()
            first, last = words.tolist()
            spun.append(last - first)
        print(f"asked {duration_us} us, spun {statistics.fmean(spun) / 1e3:.3f} us, least step {min(spun)} ns")
        for timer in Timer:
            row(device, f"spin {duration_us} us", spin_cell(stage, duration_us * 1e-6, timer))
    print("--- addmm")
    for rows in (16, 256, 4096):
        for timer in (Timer.HELD, Timer.HELD, Timer.GRAPH, Timer.EVENTS, Timer.CUPTI, Timer.WALL):
            row(device, f"addmm M={rows} {N}x{K}", addmm_cell(rows, timer))
    print("--- detection")
    for name, cell in misbehaving_cells(stage).items():
        try:
            row(device, name, cell, 0.03)
        except Exception as error:
            print(name, type(error).__name__, error)
    print("--- out of memory")
    try:
        device.prepare(addmm_cell(1 << 23, layer=(16384, 16384)), seed=1, check=False)
    except torch.OutOfMemoryError as error:
        print("OutOfMemoryError", str(error)[:80])
    row(device, "after out of memory", addmm_cell(16))
    print("--- hot loop, ceilings")
    device.prepare(addmm_cell(16), seed=1, check=False)
    print(device.measure_energy(0.5))
    started = time.perf_counter()
    print(device.ceilings(["bfloat16", "float32"]), f"{time.perf_counter() - started:.2f} s")
    print(f"peak memory {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB, of it pool {device._pool.numel() / 2**30}")
    print(device._gpu.telemetry())


if __name__ == "__main__":
    sys.exit(main())
