"""Fork servers and workers without processes: they note what they are asked and answer by a script."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from fakes.records import H200

from solwatch.app.processes import CellFailed
from solwatch.app.sides import Bench
from solwatch.model.cell import CellInfo
from solwatch.model.protocol import (
    Discover,
    Discovered,
    EnergyMeasured,
    Findings,
    Look,
    Looked,
    Measure,
    Measured,
    MeasureEnergy,
    Open,
    Opened,
    Prepare,
    Prepared,
    Release,
    Released,
    Reply,
    Request,
    Watching,
    WatchReads,
)
from solwatch.model.record import Block, Failure, Telemetry

Answer = Reply | Failure | BaseException | None
DIED = Failure(kind="died", message="the process killed by signal 9 (SIGKILL)")
_PIDS = count(1000)


def cells(*keys: str, kind: str = "suite") -> list[CellInfo]:
    """Return cells of these names."""
    return [CellInfo(key=key, benchmark=key, params=[], param_names=[], kind=kind) for key in keys]


def block(*voids: str, timer: str = "held", fallback: str | None = None, **telemetry: Any) -> Block:
    """Return a block of one sample with these voids, its timer and what the device said after it."""
    after = Telemetry(**telemetry)
    return Block(samples_s=[1e-5], null_s=[], number=1, timer=timer, fallback=fallback, after=after, voids=list(voids))


class FakeWorker:
    """A worker of ``side``; what it is asked is appended to the server's ``asked``."""

    def __init__(self, server: "FakeServer", side: str) -> None:
        self.server = server
        self.side = side
        self.pid = next(_PIDS)
        self.alive = True

    def ask(self, request: Request, expected: type[Any], timeout_s: float) -> Any:
        with self.server.lock:
            self.server.asked.append((self, request))
        answer = self.server.script(self, request) if self.alive else DIED
        if isinstance(answer, Failure):
            if answer.kind in ("died", "hung"):
                self.end()
            raise CellFailed(answer)
        if isinstance(answer, BaseException):
            raise answer
        reply = answer or _ordinary(request, self.server.call_s)
        assert isinstance(reply, expected)
        return reply

    def kill(self) -> None:
        self.alive = False

    def let_go(self) -> None:
        assert self.alive, "told to finish after its end"

    def close(self) -> None:
        self.end()

    def end(self) -> None:
        self.alive = False
        self.server.running.discard(self.pid)


@dataclass
class FakeServer:
    """Forks fake workers. ``script``: what a worker answers; ``None`` is an ordinary answer."""

    script: Callable[[FakeWorker, Request], Answer] = lambda worker, request: None
    call_s: float = 1e-5
    asked: list[tuple[FakeWorker, Request]] = field(default_factory=list)
    workers: list[FakeWorker] = field(default_factory=list)
    pids: set[int] = field(default_factory=set)
    running: set[int] = field(default_factory=set)
    lock: Any = field(default_factory=threading.Lock)

    def fork(self, path: Sequence[str], environment: Mapping[str, str], *, cores: Sequence[int] = ()) -> FakeWorker:
        self.workers.append(FakeWorker(self, path[0]))
        self.pids.add(self.workers[-1].pid)
        self.running.add(self.workers[-1].pid)
        return self.workers[-1]

    def stop(self) -> None:
        for worker in self.workers:
            worker.end()

    def requests(self, kind: type[Any], side: str | None = None) -> list[Any]:
        """Return what was asked of that kind, of ``side`` or of both."""
        return [request for worker, request in self.asked if isinstance(request, kind) and side in (None, worker.side)]


def bench(server: FakeServer, caches: Path, *, device: str = "cuda:0", seed: int = 7) -> Bench:
    """Return the real bench around a fake server."""
    return Bench(
        server=server,  # type: ignore[arg-type]  # as much of one as a bench uses
        benchmarks_dir=Path("benchmarks"),
        device=device,
        seed=seed,
        caches_dir=caches,
        hang_s=5.0,
    )


def _ordinary(request: Request, call_s: float) -> Reply:
    match request:
        case Discover():
            return Discovered(cells=[], import_failures={}, modules_missed=[])
        case Open():
            return Opened(cells=[], fingerprint=H200)
        case WatchReads():
            return Watching()
        case Look():
            return Looked(caches=None, read=[])
        case Prepare():
            found = request.findings or Findings(timer="held", launches=1)
            return Prepared(work=None, findings=found, call_s=call_s)
        case Measure():
            return Measured(block=block())
        case MeasureEnergy():
            return EnergyMeasured(hot_s=1e-5, energy_j=None)
        case Release():
            return Released()
    raise AssertionError(f"a round does not ask {request}")
