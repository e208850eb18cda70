"""The held sampler against NVBench's cold timing: ``python nvbench_compare.py`` (package cuda-bench, one GPU).

Both time torch.addmm of the same tensors in the same process after the same kind of flush: NVBench fills a buffer
of the size of L2 with zeros (``memset``), lets the device go idle, and gates every sample by itself. ``paced`` does
the same with our gate and events. Where buffers and cuBLAS's workspace lie moves a decode-size addmm by 1 to 2 %,
so both are drawn anew several times, ours measured before and after NVBench, and the means over the draws must
agree: prints their ratio for each cell and exits 1 when one is off by more than 2 %. ``chunks`` is the held timer as
it is used, back to back behind one gate: the flush's write-back has had no time to end and the card is warmer.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import cuda.bench as bench
import torch
from cuda.bench.results import BenchmarkResult

from solwatch.device.sampler import Pace, gated_duration, gated_samples, plain_shots
from solwatch.device.stage import MEMSET_FLUSH, Stage

ROWS = (16, 256, 4096)
N = K = 4096
DRAWS = 6
LIMIT = 0.02
LAUNCHES = 4
"""More than addmm launches, so that chunks are safe."""

Operands = dict[str, torch.Tensor]


def tensors(rows: int, seed: int) -> Operands:
    """Return the operands of one cell at places of their own; both tools get the very same."""
    generator = torch.Generator("cuda").manual_seed(seed)
    sizes = {"input": (rows, N), "mat1": (rows, K), "weight": (N, K)}
    drawn = {name: torch.randn(size, generator=generator, device="cuda").bfloat16() for name, size in sizes.items()}
    return drawn | {"out": torch.empty(rows, N, device="cuda", dtype=torch.bfloat16)}


def addmm(input: torch.Tensor, mat1: torch.Tensor, weight: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """The call that is timed."""
    return torch.addmm(input, mat1, weight.t(), out=out)


def chunks(stage: Stage, operands: Operands) -> float:
    """Return the held timer's median, as it is used."""
    with torch.cuda.stream(stage.stream), torch.no_grad():
        shots = plain_shots(addmm, [operands])
        pace = Pace(number=1, launches=LAUNCHES, call_s=gated_duration(stage, shots, LAUNCHES))
        taken = gated_samples(stage, shots, pace, deadline=time.perf_counter() + 0.1, target_s=0.1)
    return statistics.median(taken.samples_s)


def paced(stage: Stage, operands: Operands, samples: int = 300) -> float:
    """Return the median of samples each behind its own gate on an idle device."""
    taken = []
    with torch.cuda.stream(stage.stream), torch.no_grad():
        for _ in range(samples):
            stage.vary("call")
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
    return statistics.median(taken)


def nvbench(cells: Sequence[Operands]) -> list[float]:
    """Return NVBench's cold medians in seconds; it makes a stream, so a cuBLAS workspace, of its own for each cell."""

    def benchmark(state: bench.State) -> None:
        operands = cells[state.get_int64("Cell")]

        def run(launched: bench.Launch) -> None:
            stream = torch.cuda.ExternalStream(launched.get_stream().addressof())
            with torch.cuda.stream(stream), torch.no_grad():
                addmm(**operands)

        state.exec(run, batched=False)

    bench.register(benchmark).add_int64_axis("Cell", list(range(len(cells)))).set_name("addmm")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nvbench.json"
        device = str(torch.cuda.current_device())
        options = ["--devices", device, "--jsonbin", str(path), "--timeout", "2", "--min-time", "0.02"]
        bench.run_all_benchmarks(["nvbench", *options])  # can be called once in a process
        states = BenchmarkResult.from_json(path)["addmm"].states
        return [statistics.median(state.samples or []) for state in states]


def ours(kind: Callable[[Stage, Operands], float], cells: Sequence[Operands]) -> list[float]:
    """Return our medians, each cell on a stage, so a stream and a workspace, of its own."""
    medians = []
    for operands in cells:
        stage = Stage(torch.cuda.current_device(), flush_kind=MEMSET_FLUSH)
        with torch.cuda.stream(stage.stream):
            for _ in range(20):
                addmm(**operands)
        stage.synchronize()
        medians.append(kind(stage, operands))
    return medians


def main() -> int:
    """Compare and print; the exit code says whether all cells agree."""
    cells = [tensors(rows, draw) for draw in range(DRAWS) for rows in ROWS]
    before = ours(paced, cells)
    theirs = nvbench(cells)
    after = ours(paced, cells)
    held = ours(chunks, cells)
    print(f"us, mean (sd) over {DRAWS} draws         paced           NVBench            chunks  paced/NVBench")
    good = True
    for index, rows in enumerate(ROWS):
        draws = slice(index, None, len(ROWS))
        columns = (before[draws] + after[draws], theirs[draws], held[draws])
        means = [statistics.fmean(column) for column in columns]
        good = good and abs(means[0] / means[1] - 1) <= LIMIT
        texts = [f"{statistics.fmean(each) * 1e6:9.2f} ({statistics.stdev(each) * 1e6:5.2f})" for each in columns]
        print(f"addmm M={rows} {N}x{K}".ljust(26), *texts, f"{means[0] / means[1]:12.4f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
