"""What a side of a comparison is: a commit's build, and how to start a worker that measures it."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from solwatch.app.fingerprints import Fingerprints
from solwatch.app.processes import ForkServer, WorkerProcess
from solwatch.device.caches import private_caches
from solwatch.model.protocol import Discover, Discovered, Open, Opened


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of a comparison. ``name``: ``head`` or ``base``. ``path``: what goes in front of sys.path."""

    name: str
    path: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where and how both sides are measured: the suite, the device, the seed, the processes' home.

    ``base_server``: where base's processes are forked when its interpreter is another one than head's. ``gpu``: the
    device's index among GPUs. ``lane``: which one of how many benches this is that measure at once and share the
    processor's cores.
    """

    server: ForkServer
    benchmarks_dir: Path
    device: str
    seed: int
    caches_dir: Path
    hang_s: float
    base_server: ForkServer | None = None
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    gpu: int | None = None
    lane: tuple[int, int] = (0, 1)

    def fork(self, side: Side, slot: int) -> WorkerProcess:
        """Fork a worker for ``side`` in ``slot``; nothing is open yet.

        Each slot has JIT and autotune caches of its own for each side, so that neither side profits from what the
        other compiled, and on a GPU a share of the cores of its own.
        """
        return self.server_of(side).fork(side.path, self.caches_of(side, slot), cores=self._cores(slot))

    def server_of(self, side: Side) -> ForkServer:
        """Return the server whose interpreter and environment are the side's."""
        return self.base_server if self.base_server and side.name == "base" else self.server

    def caches_of(self, side: Side, slot: int) -> dict[str, str]:
        """Return the environment variables that lead to the caches of ``side`` in ``slot``; makes their folder."""
        caches = self.caches_dir / f"{side.name}-{slot}"
        caches.mkdir(parents=True, exist_ok=True)
        return private_caches(caches)

    @property
    def servers(self) -> tuple[ForkServer, ...]:
        """All servers whose processes are ours."""
        return (self.server, self.base_server) if self.base_server else (self.server,)

    def stop(self) -> None:
        """End all processes at once; threads that wait for one go on with an error."""
        for server in self.servers:
            server.stop()

    def discover(self, worker: WorkerProcess) -> None:
        """Let a forked worker do all of opening that leaves the device alone; raises ``CellFailed`` and ends it."""
        request = Discover(benchmarks_dir=str(self.benchmarks_dir), device=self.device)
        try:
            worker.ask(request, Discovered, timeout_s=self.hang_s)
        except BaseException:
            worker.end()
            raise

    def open(self, worker: WorkerProcess, side: Side, *, benchmarks_dir: Path | None = None) -> Opened:
        """Let a forked worker of ``side`` open suite and device; raises ``CellFailed`` and ends it when it can't.

        Raises ``MachineError`` when its device or software is not what the others were measured on.
        """
        suite = str(benchmarks_dir or self.benchmarks_dir)
        try:
            opened = worker.ask(
                Open(benchmarks_dir=suite, device=self.device, seed=self.seed), Opened, timeout_s=self.hang_s
            )
            if benchmarks_dir is None:  # another suite may set up its processes in another way; it isn't timed
                self.fingerprints.check(side.name, opened.fingerprint)
        except BaseException:
            worker.end()
            raise
        return opened

    def start(self, side: Side, slot: int, *, benchmarks_dir: Path | None = None) -> tuple[WorkerProcess, Opened]:
        """Fork a worker for ``side`` in ``slot`` and open suite and device; raises ``CellFailed``."""
        worker = self.fork(side, slot)
        return worker, self.open(worker, side, benchmarks_dir=benchmarks_dir)

    def _cores(self, slot: int) -> list[int]:
        """Return the cores of a slot: every second one on a GPU, all (an empty list) where the CPU is measured.

        Several GPUs divide them first, unless there are too few for a core to each process.
        """
        if self.device == "cpu":
            return []
        mine = sorted(os.sched_getaffinity(0))
        number, count = self.lane
        if len(mine) >= 2 * count:
            mine = mine[number * len(mine) // count : (number + 1) * len(mine) // count]
        return mine[slot::2] if len(mine) > 1 else []
