"""A process that has imported torch once and forks warmed workers: a fresh process in milliseconds.

It never touches CUDA, so that each child makes a context of its own. It runs in a session of its own: Ctrl-C in
the terminal reaches the application alone, which then ends its processes. When the application dies, so do they.
"""

import contextlib
import ctypes
import faulthandler
import importlib
import os
import signal
import socket
import sys
import time
import traceback
import warnings
from pathlib import Path

import msgspec

from solwatch.app.channel import Channel, ChannelClosed
from solwatch.device.before_fork import warm_before_fork

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SWEEPS = 20
PRELOADED = ("numpy", "asv_runner.discovery", "solwatch.app.worker")
"""What a worker needs and what is the same for both sides, beside torch; one that isn't installed is left out."""

COLD = "cold"
"""The second argument of a server whose workers list suites and measure nothing: they need no torch."""


class Fork(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Fork a worker that talks over the descriptor sent along.

    ``path`` goes in front of sys.path; the worker runs on ``cores``, on any when there are none.
    """

    path: list[str]
    environment: dict[str, str]
    log: str
    cores: list[int]


class Reap(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Ask how a worker ended; waits for at most ``wait_s``."""

    pid: int
    wait_s: float


class Forked(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``Fork``."""

    pid: int


class Reaped(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``Reap``: a wait status in words, ``None`` when it still runs."""

    ended: str | None


def main() -> None:
    """Serve fork requests on the descriptor given as the first argument until it closes."""
    _die_with_parent()
    _adopt_orphans()
    _leave_working_folder()
    channel: Channel[Fork | Reap] = Channel(socket.socket(fileno=int(sys.argv[1])), Fork | Reap)
    for name in PRELOADED:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    if COLD not in sys.argv[2:]:
        for failure in warm_before_fork():
            print(failure, flush=True)
    with contextlib.suppress(ChannelClosed):
        _serve_forks(channel)
    end_children(spared=set())


def _serve_forks(channel: "Channel[Fork | Reap]") -> None:
    """Answer until ``ChannelClosed`` is raised."""
    workers: set[int] = set()
    while True:
        request, descriptors = channel.receive_with_descriptors(1)
        if isinstance(request, Reap):
            ended = _reap(request.pid, request.wait_s)
            if ended is not None:
                workers.discard(request.pid)
                end_children(spared=workers)
            channel.send(Reaped(ended=ended))
            continue
        with warnings.catch_warnings():
            # BLAS and OpenMP pools wait idle here; both prepare for a fork and start threads anew in the child.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            channel.close()
            _become_worker(request, descriptors[0])
        os.close(descriptors[0])
        workers.add(pid)
        channel.send(Forked(pid=pid))


def _leave_working_folder() -> None:
    """Take the folder that ``-m`` put on sys.path off again: a side must not import the working tree's files."""
    if sys.path[:1] == [str(Path.cwd())]:
        del sys.path[0]


def _become_worker(request: Fork, descriptor: int) -> None:
    """Serve measurements in this forked child and never return."""
    code = 1
    try:
        _die_with_parent()
        log = os.open(request.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        faulthandler.enable()
        if request.cores:
            os.sched_setaffinity(0, request.cores)
        os.environ.update(request.environment)
        sys.path[:0] = request.path
        from solwatch.app.worker import serve

        serve(socket.socket(fileno=descriptor))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _reap(pid: int, wait_s: float) -> str | None:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return "already gone"
        if ended:
            return _in_words(status)
        if time.monotonic() >= deadline:
            return None
        time.sleep(0.005)


def end_children(spared: set[int]) -> None:
    """End every child but ``spared``: what a suite started and left behind would hold the device or the cores.

    Their own children become this process's when they end (it adopts orphans), so it goes on until none is left.
    """
    for _ in range(_SWEEPS):
        left = {pid for pid in _children() if pid not in spared}
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in left:
            _reap(pid, 1.0)


def _children() -> list[int]:
    me, found = os.getpid(), []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(entry.read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it ended meanwhile
        if parent == me:
            found.append(int(entry.parent.name))
    return found


def _adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _in_words(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"killed by signal {number} ({signal.Signals(number).name})"
    return f"exited with code {os.waitstatus_to_exitcode(status)}"


def _die_with_parent() -> None:
    """Ask the kernel to end this process when its parent ends, however that happens (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
