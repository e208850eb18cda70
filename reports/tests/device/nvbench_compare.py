"""The held sampler against NVBench's cold timing: ``python nvbench_compare.py`` (package cuda-bench, one GPU).

Both time torch.addmm of the same tensors in the same process after the same kind of flush: NVBench fills a buffer
of the size of L2 with zeros (``memset``), lets the device go idle, and gates every sample by itself.

``paced`` does the same with our gate and events. It varies the launch slot from sample to sample; NVBench, whose
samples all have the same number of launches, sees one or two of the four slots, which are up to 1 µs apart.
``varied`` is NVBench with the same variation in front of its timer. ``paced`` and ``varied`` measure the same thing
and must agree: the script exits 1 when a cell is off by more than 2 %.

``chunks`` is the held timer as it is used, back to back behind one gate: the flush's write-back has had no time to
end and the card is warmer, which its figures show.
"""

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import cuda.bench as bench
import torch
from cuda.bench.results import BenchmarkResult

from solwatch.device.sampler import Pace, gated_duration, gated_samples, plain_shots
from solwatch.device.stage import LAUNCH_SLOTS, MEMSET_FLUSH, Stage

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


def theirs(stage: Stage, cells: dict[int, dict[str, torch.Tensor]], folder: Path) -> dict[str, dict[int, list[float]]]:
    """Return NVBench's samples by benchmark (``plain``, ``varied``) and rows."""
    slots = random.Random(1)

    def run(operands: dict[str, torch.Tensor], launched: bench.Launch) -> None:
        stream = torch.cuda.ExternalStream(launched.get_stream().addressof())
        with torch.cuda.stream(stream), torch.no_grad():
            addmm(**operands)

    def plain(state: bench.State) -> None:
        operands = cells[state.get_int64("Rows")]
        state.exec(lambda launched: run(operands, launched), batched=False)

    def varied(state: bench.State) -> None:
        operands = cells[state.get_int64("Rows")]

        def timed(launched: bench.Launch, timer: bench.Timer) -> None:
            for _ in range(slots.randrange(LAUNCH_SLOTS)):
                stage.kernels.null(launched.get_stream().addressof())
            timer.start()
            run(operands, launched)
            timer.stop()

        state.exec(timed, timer=True)

    for benchmark in (plain, varied):
        bench.register(benchmark).add_int64_axis("Rows", list(cells)).set_name(benchmark.__name__)
    path = folder / "nvbench.json"
    device = str(torch.cuda.current_device())
    bench.run_all_benchmarks(["nvbench", "--devices", device, "--jsonbin", str(path), "--timeout", "5"])
    results = BenchmarkResult.from_json(path)
    return {
        name: {rows: list(state.samples or []) for rows, state in zip(cells, results[name].states, strict=True)}
        for name in ("plain", "varied")
    }


def main() -> int:
    """Compare and print; the exit code says whether all cells agree."""
    stage = Stage(torch.cuda.current_device(), flush_kind=MEMSET_FLUSH)
    cells = {rows: tensors(rows) for rows in ROWS}
    held = {rows: (ours(stage, operands), paced(stage, operands)) for rows, operands in cells.items()}
    with tempfile.TemporaryDirectory() as folder:
        nvbench = theirs(stage, cells, Path(folder))
    again = {rows: (ours(stage, operands), paced(stage, operands)) for rows, operands in cells.items()}
    agree = True
    print(f"{'us':24s} {'chunks':>9s} {'paced':>9s} {'NVBench':>9s} {'varied':>9s} {'paced/varied':>13s}")
    for rows in ROWS:
        chunks_s, paced_s = (statistics.median(held[rows][kind] + again[rows][kind]) for kind in (0, 1))
        plain_s, varied_s = (statistics.median(nvbench[name][rows]) for name in ("plain", "varied"))
        agree = agree and abs(paced_s / varied_s - 1) <= LIMIT
        print(
            f"addmm M={rows} {N}x{K}".ljust(24),
            f"{chunks_s * 1e6:9.2f} {paced_s * 1e6:9.2f} {plain_s * 1e6:9.2f} {varied_s * 1e6:9.2f}",
            f"{paced_s / varied_s:12.4f}",
        )
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
