"""The held sampler against NVBench's cold timing: ``python nvbench_compare.py`` (package cuda-bench, one GPU).

Both time torch.addmm of the same tensors in the same process after the same kind of flush: NVBench fills a buffer
of the size of L2 with zeros (``memset``), lets the device go idle, and gates every sample by itself. ``paced`` does
the same with our gate and events. Where buffers and cuBLAS's workspace lie moves a decode-size addmm by 1 to 2 %,
so both are drawn anew several times, the two tools taking turns, and the means over the draws must agree: prints
their ratio for each cell and exits 1 when one is off by more than 2 %. ``chunks`` is the held timer as it is used,
back to back behind one gate: the flush's write-back has had no time to end and the card is warmer, which shows.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
    return statistics.median(taken)


class NvBench:
    """NVBench's cold median of one call; it makes a stream, so a cuBLAS workspace, of its own each time."""

    def __init__(self) -> None:
        """Register the one benchmark; its operands are set before each run."""
        self._operands: Operands = {}
        bench.register(self._benchmark).set_name("addmm")

    def median(self, operands: Operands) -> float:
        """Run NVBench on ``operands`` and return its median in seconds."""
        self._operands = operands
        with tempfile.TemporaryDirectory() as folder, silenced():
            path = Path(folder) / "nvbench.json"
            device = str(torch.cuda.current_device())
            options = ["--devices", device, "--jsonbin", str(path), "--timeout", "2", "--min-time", "0.02"]
            bench.run_all_benchmarks(["nvbench", *options])
            (state,) = BenchmarkResult.from_json(path)["addmm"].states
            return statistics.median(state.samples or [])

    def _benchmark(self, state: bench.State) -> None:
        def run(launched: bench.Launch) -> None:
            stream = torch.cuda.ExternalStream(launched.get_stream().addressof())
            with torch.cuda.stream(stream), torch.no_grad():
                addmm(**self._operands)

        state.exec(run, batched=False)


@contextmanager
def silenced() -> Iterator[None]:
    """Send what C++ prints on stdout nowhere."""
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def main() -> int:
    """Compare and print; the exit code says whether all cells agree."""
    nvbench = NvBench()
    times: dict[int, dict[str, list[float]]] = {rows: {"paced": [], "NVBench": [], "chunks": []} for rows in ROWS}
    for draw in range(DRAWS):
        stage = Stage(torch.cuda.current_device(), flush_kind=MEMSET_FLUSH)
        for rows in ROWS:
            operands = tensors(rows, draw)
            with torch.cuda.stream(stage.stream):
                for _ in range(20):
                    addmm(**operands)
            stage.synchronize()
            first, second = (paced(stage, operands), 0.0) if draw % 2 else (0.0, nvbench.median(operands))
            times[rows]["paced"].append(first or paced(stage, operands))
            times[rows]["NVBench"].append(second or nvbench.median(operands))
        for rows in ROWS:
            times[rows]["chunks"].append(chunks(stage, tensors(rows, draw)))
    return 0 if agree(times) else 1


def agree(times: dict[int, dict[str, list[float]]]) -> bool:
    """Print the table and return whether every ratio is within the limit."""
    print(f"us, mean over {DRAWS} draws (sd)         paced           NVBench            chunks  paced/NVBench")
    good = True
    for rows, cell in times.items():
        mean = {name: statistics.fmean(values) for name, values in cell.items()}
        columns = [f"{mean[name] * 1e6:9.2f} ({statistics.stdev(cell[name]) * 1e6:5.2f})" for name in cell]
        ratio = mean["paced"] / mean["NVBench"]
        good = good and abs(ratio - 1) <= LIMIT
        print(f"addmm M={rows} {N}x{K}".ljust(26), *columns, f"{ratio:12.4f}")
    return good


if __name__ == "__main__":
    sys.exit(main())
