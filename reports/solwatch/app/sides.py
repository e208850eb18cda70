"""What a side of a comparison is: a commit's build, and how to start a worker that measures it."""

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

    def start(self, side: Side, slot: int, *, benchmarks_dir: Path | None = None) -> tuple[WorkerProcess, Opened]:
        """Fork a worker for ``side`` in ``slot`` and open suite and device; raises ``CellFailed``.

        Each slot has JIT and autotune caches of its own for each side, so that neither side profits from what
        the other compiled.
        """
        caches = self.caches_dir / f"{side.name}-{slot}"
        caches.mkdir(parents=True, exist_ok=True)
        worker = self.server.fork(side.path, private_caches(caches))
        suite = str(benchmarks_dir or self.benchmarks_dir)
        try:
            opened = worker.ask(
                Open(benchmarks_dir=suite, device=self.device, seed=self.seed), Opened, timeout_s=self.hang_s
            )
        except BaseException:
            worker.end()
            raise
        return worker, opened
