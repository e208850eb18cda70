"""The held sampler against NVBench's cold timing: ``python nvbench_compare.py`` (package cuda-bench, one GPU).

Both time torch.addmm of the same tensors in the same process after the same kind of flush: NVBench fills a buffer
of the size of L2 with zeros (``memset``), lets the device go idle, and gates every sample by itself. ``paced`` does
the same with our gate and events, and is what must agree: prints the ratio of medians for each cell and exits 1 when
one is off by more than 2 %. ``chunks`` is the held timer as it is used, back to back behind one gate: the flush's
write-back has had no time to end and the card is warmer, which its figures show.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import cuda.bench as bench
import torch
from cuda.bench.results import BenchmarkResult

from solwatch.device.sampler import Pace, gated_duration, gated_samples, plain_shots
from solwatch.device.stage import MEMSET_FLUSH, Stage

ROWS = (16, 256, 4096)
N = K = 4096
LIMIT = 0.02
LAUNCHES = 4
"""More than addmm launches, so that chunks are safe."""


def tensors(rows: int) -> dict[str, torch.Tensor]:
    """Return the operands of one cell; the same seed, so the same data, for both tools."""
    generator = torch.Generator("cuda").manual_seed(rows)
    sizes = {"input": (rows, N), "mat1": (rows, K), "weight": (N, K)}
    return {name: torch.randn(size, generator=generator, device="cuda").bfloat16() for name, size in sizes.items()}


def addmm(input: torch.Tensor, mat1: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The call that is timed."""
    return torch.addmm(input, mat1, weight.t())


def ours(stage: Stage, operands: dict[str, torch.Tensor]) -> list[float]:
    """Return samples of the held timer, one buffer set as NVBench has."""
    with torch.cuda.stream(stage.stream), torch.no_grad():
        shots = plain_shots(addmm, [operands])
        for _ in range(20):
            shots[0]()
        stage.synchronize()
        pace = Pace(number=1, launches=LAUNCHES, call_s=gated_duration(stage, shots, LAUNCHES))
        return gated_samples(stage, shots, pace, deadline=time.perf_counter() + 0.3, target_s=0.3).samples_s


def paced(stage: Stage, operands: dict[str, torch.Tensor], samples: int = 500) -> list[float]:
    """Return samples each behind its own gate on an idle device."""
    taken = []
    with torch.cuda.stream(stage.stream), torch.no_grad():
        for _ in range(samples):
            stage.vary()
            stage.flush()
            stage.synchronize()
            stage.gate.hold(stage.handle)
            start = stage.mark()
            addmm(**operands)
            end = stage.mark()
            stage.gate.release()
            stage.synchronize()
            taken.append(stage.seconds(start, end))
            stage.recycle(start, end)
    return taken


def theirs(cells: dict[int, dict[str, torch.Tensor]], folder: Path) -> dict[int, list[float]]:
    """Return NVBench's samples by rows."""

    def addmm_of_rows(state: bench.State) -> None:
        operands = cells[state.get_int64("Rows")]

        def launch(launched: bench.Launch) -> None:
            stream = torch.cuda.ExternalStream(launched.get_stream().addressof())
            with torch.cuda.stream(stream), torch.no_grad():
                addmm(**operands)

        state.exec(launch, batched=False)

    bench.register(addmm_of_rows).add_int64_axis("Rows", list(cells)).set_name("addmm")
    path = folder / "nvbench.json"
    bench.run_all_benchmarks(
        ["nvbench", "--devices", str(torch.cuda.current_device()), "--jsonbin", str(path), "--timeout", "5"]
    )
    states = BenchmarkResult.from_json(path)["addmm"].states
    return {rows: list(state.samples or []) for rows, state in zip(cells, states, strict=True)}


def main() -> int:
    """Compare and print; the exit code says whether all cells agree."""
    stage = Stage(torch.cuda.current_device(), flush_kind=MEMSET_FLUSH)
    cells = {rows: tensors(rows) for rows in ROWS}
    held = {rows: (ours(stage, operands), paced(stage, operands)) for rows, operands in cells.items()}
    with tempfile.TemporaryDirectory() as folder:
        nvbench = theirs(cells, Path(folder))
    again = {rows: (ours(stage, operands), paced(stage, operands)) for rows, operands in cells.items()}
    agree = True
    print(f"{'us':24s} {'chunks':>9s} {'paced':>9s} {'NVBench':>9s} {'paced/NVBench':>14s}")
    for rows in ROWS:
        chunks_s, paced_s = (statistics.median(held[rows][kind] + again[rows][kind]) for kind in (0, 1))
        nvbench_s = statistics.median(nvbench[rows])
        agree = agree and abs(paced_s / nvbench_s - 1) <= LIMIT
        print(
            f"addmm M={rows} {N}x{K}".ljust(24),
            f"{chunks_s * 1e6:9.2f} {paced_s * 1e6:9.2f} {nvbench_s * 1e6:9.2f} {paced_s / nvbench_s:14.4f}",
        )
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
