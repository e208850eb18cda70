"""What a side of a comparison is: a commit's build, and how to start a worker that measures it."""

import os
from dataclasses import dataclass
from pathlib import Path

from solwatch.app.processes import ForkServer, WorkerProcess
from solwatch.device.caches import private_caches
from solwatch.model.protocol import Open, Opened


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of a comparison. ``name``: ``head`` or ``base``. ``path``: what goes in front of sys.path."""

    name: str
    path: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where and how both sides are measured: the suite, the device, the seed, the processes' home."""

    server: ForkServer
    benchmarks_dir: Path
    device: str
    seed: int
    caches_dir: Path
    hang_s: float

    def fork(self, side: Side, slot: int) -> WorkerProcess:
        """Fork a worker for ``side`` in ``slot``; nothing is open yet.

        Each slot has JIT and autotune caches of its own for each side, so that neither side profits from what the
        other compiled, and on a GPU a share of the cores of its own.
        """
        caches = self.caches_dir / f"{side.name}-{slot}"
        caches.mkdir(parents=True, exist_ok=True)
        return self.server.fork(side.path, private_caches(caches), cores=self._cores(slot))

    def open(self, worker: WorkerProcess, *, benchmarks_dir: Path | None = None) -> Opened:
        """Let a forked worker open suite and device; raises ``CellFailed`` and ends it when it can't."""
        suite = str(benchmarks_dir or self.benchmarks_dir)
        try:
            return worker.ask(
                Open(benchmarks_dir=suite, device=self.device, seed=self.seed), Opened, timeout_s=self.hang_s
            )
        except BaseException:
            worker.end()
            raise

    def start(self, side: Side, slot: int, *, benchmarks_dir: Path | None = None) -> tuple[WorkerProcess, Opened]:
        """Fork a worker for ``side`` in ``slot`` and open suite and device; raises ``CellFailed``."""
        worker = self.fork(side, slot)
        return worker, self.open(worker, benchmarks_dir=benchmarks_dir)

    def _cores(self, slot: int) -> list[int]:
        """Return the cores of a slot: every second one on a GPU, all (an empty list) where the CPU is measured."""
        mine = sorted(os.sched_getaffinity(0))
        return mine[slot::2] if self.device != "cpu" and len(mine) > 1 else []
