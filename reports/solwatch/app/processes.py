"""The application's side of its processes: a fork server and the workers forked from it."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from solwatch.app.channel import Channel, ChannelClosed, ChannelTimeout
from solwatch.app.forkserver import COLD, Fork, Forked, Reap, Reaped
from solwatch.model.errors import MachineError
from solwatch.model.protocol import Failed, Reply, Request
from solwatch.model.record import Failure

_START_LIMIT_S = 180.0
_FORK_LIMIT_S = 20.0
_LAST_WORDS = 3
_TAIL_BYTES = 1 << 16
R = TypeVar("R")


class CellFailed(Exception):
    """A worker could not do what it was asked; carries the ``Failure`` to record."""

    def __init__(self, failure: Failure) -> None:
        """Keep ``failure`` for the record."""
        super().__init__(failure.message)
        self.failure = failure


class WorkerProcess:
    """One forked worker; every request has a time limit, and one that is late or gone ends it."""

    def __init__(self, server: "ForkServer", pid: int, channel: Channel[Reply], log: Path) -> None:
        """Take over a worker that the server has just forked."""
        self._server = server
        self._channel = channel
        self._log = log
        self.pid = pid
        self.alive = True

    def ask(self, request: Request, expected: type[R], timeout_s: float) -> R:
        """Send ``request`` and return the reply; raises ``CellFailed`` (``hung``, ``died`` or what the cell did)."""
        try:
            self._channel.send(request)
            reply = self._channel.receive(timeout_s)
        except ChannelTimeout:
            self.end()
            raise CellFailed(
                Failure(kind="hung", message=f"no answer for {timeout_s:g} s; the process was ended")
            ) from None
        except ChannelClosed:
            raise CellFailed(Failure(kind="died", message=self._obituary())) from None
        if isinstance(reply, Failed):
            raise CellFailed(reply.failure)
        if not isinstance(reply, expected):
            self.end()
            message = f"the process answered {type(reply).__name__} to {type(request).__name__} and was ended"
            raise CellFailed(Failure(kind="died", message=message))
        return reply

    def let_go(self) -> None:
        """Tell the worker to finish; ``close`` waits for it."""
        self._channel.close()

    def close(self) -> None:
        """Let the worker finish by itself; end it if it doesn't."""
        if self.alive:
            self._channel.close()
            if self._server.reap(self.pid, wait_s=5.0) is None:
                self.end()
            self.alive = False

    def end(self) -> None:
        """End the worker now."""
        if self.alive:
            self.alive = False
            self._channel.close()
            self.kill()
            self._server.reap(self.pid, wait_s=5.0)

    def kill(self) -> None:
        """Kill the worker; whoever waits for its answer sees it die."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def _obituary(self) -> str:
        self.alive = False
        self._channel.close()
        ended = self._server.reap(self.pid, wait_s=2.0) or "closed its connection"
        words = [line.strip() for line in _tail(self._log).splitlines() if line.strip()]
        last = words[-_LAST_WORDS:]
        return f"the process {ended}" + (f"; its last words: {' | '.join(last)[:300]}" if any(last) else "")


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _TAIL_BYTES))
            return log.read().decode(errors="replace")
    except OSError:
        return ""


class ForkServer:
    """A running fork server; a context manager that takes its workers along when it ends.

    ``environment``, ``python``: as given. ``pids``: every worker forked so far; ``running``: those not known to have
    ended. Threads may share it.
    """

    def __init__(
        self, environment: Mapping[str, str], log_dir: Path, *, python: str = sys.executable, measures: bool = True
    ) -> None:
        """Start the server with ``environment`` and nothing else; ``python`` is the interpreter it runs under.

        Without ``measures`` its workers only list suites: it doesn't import torch for them, which takes seconds.
        """
        self.environment, self.python = environment, python
        log_dir.mkdir(parents=True, exist_ok=True)
        for old in log_dir.glob("worker-*.log"):
            old.unlink(missing_ok=True)
        # What a killed worker leaves in its temporary folder goes with this one.
        self._scratch = tempfile.mkdtemp(prefix="solwatch-workers-")
        self._log_dir = log_dir
        self._count = 0
        self.pids: set[int] = set()
        self.running: set[int] = set()
        self._turn = threading.Lock()
        ours, theirs = socket.socketpair()
        self._channel: Channel[Forked | Reaped] = Channel(ours, Forked | Reaped)
        self._log = log_dir / "server.log"
        with self._log.open("wb") as log, theirs:
            self._process = subprocess.Popen(
                [python, "-m", "solwatch.app.forkserver", str(theirs.fileno()), *([] if measures else [COLD])],
                env={**environment, "TMPDIR": self._scratch},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def fork(self, path: Sequence[str], environment: Mapping[str, str], *, cores: Sequence[int] = ()) -> WorkerProcess:
        """Fork a worker that sees ``path`` first and ``environment`` on top of the server's, on ``cores`` or any."""
        self._count += 1
        log = self._log_dir / f"worker-{self._count}.log"
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._turn:
                request = Fork(path=list(path), environment=dict(environment), log=str(log), cores=list(cores))
                self._channel.send(request, descriptors=(theirs.fileno(),))
                reply = self._channel.receive(_START_LIMIT_S if self._count == 1 else _FORK_LIMIT_S)
        except (ChannelClosed, ChannelTimeout) as error:
            ours.close()
            raise MachineError(f"the fork server is gone ({error}); its output is in {self._log}") from None
        if not isinstance(reply, Forked):
            raise TypeError(f"the fork server answered {type(reply).__name__} to Fork")
        self.pids.add(reply.pid)
        self.running.add(reply.pid)
        return WorkerProcess(self, reply.pid, Channel(ours, Reply), log)

    def reap(self, pid: int, *, wait_s: float) -> str | None:
        """Return how a worker ended, ``None`` when it still runs after ``wait_s``."""
        try:
            with self._turn:
                self._channel.send(Reap(pid=pid, wait_s=wait_s))
                reply = self._channel.receive(wait_s + 5.0)
        except (ChannelClosed, ChannelTimeout):
            return "ended with the fork server"
        ended = reply.ended if isinstance(reply, Reaped) else None
        if ended is not None:
            self.running.discard(pid)
        return ended

    def stop(self) -> None:
        """Tell the server to end, and with it every worker, also while other threads wait for one of them."""
        self._channel.shut()

    def close(self) -> None:
        """End the server and with it every worker that still runs."""
        self._channel.close()
        try:
            self._process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def __enter__(self) -> "ForkServer":
        """Return the server itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, also when interrupted."""
        self.close()
