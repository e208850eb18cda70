"""A look at the sampler on a real GPU, one table a subject: ``PYTHONPATH=reports/tests python gpu_smoke.py``.

Not a test: it asserts nothing. The tests that need a GPU are in test_cuda.py.
"""

import statistics
import sys
import time

import torch
from fakes.gpu_cells import K, N, addmm_cell, misbehaving_cells, spin_cell

from solwatch.device.cuda import CudaDevice
from solwatch.model.cell import Cell, Timer


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
    stage = device.stage
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


def main() -> None:
    """Print the tables."""
    started = time.perf_counter()
    device = CudaDevice(torch.cuda.current_device(), seed=7)
    stage = device.stage
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
