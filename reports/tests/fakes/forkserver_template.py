"""Fork servers that begin warm: forked from one process that has imported torch, instead of each importing it anew.

Importing it takes two seconds of a core, which most gates of the toy would spend for nothing that their test asks.
Such a server differs in how it begins alone: it is a child of the tests in a session of its own, with the
environment, the descriptor and the log that it is given. Servers of other interpreters and of suites that are only
listed begin as ever.
"""

import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from solwatch.app import forkserver


@contextmanager
def template() -> Iterator[Any]:
    """Yield what stands for ``subprocess`` in ``solwatch.app.processes``."""
    forkserver._adopt_orphans()  # a server's parent, which forks it and ends, leaves it to the tests
    ours, theirs = socket.socketpair()
    command = [sys.executable, __file__, str(theirs.fileno())]
    with ours, theirs, subprocess.Popen(command, pass_fds=[theirs.fileno()]):

        def begun(*given: Any, **how: Any) -> "subprocess.Popen[bytes]":
            return _begun(ours, *given, **how)

        yield types.SimpleNamespace(**vars(subprocess) | {"Popen": begun})
        ours.shutdown(socket.SHUT_RDWR)


def _begun(template: socket.socket, command: list[str], **how: Any) -> "subprocess.Popen[bytes]":
    if command[0] != sys.executable or forkserver.COLD in command:
        return subprocess.Popen(command, **how)
    return _Warm(template, command, **how)


class _Warm(subprocess.Popen[bytes]):
    """A child that this process did not start and may wait for, as for any other."""

    def __init__(
        self, template: socket.socket, command: list[str], *, env: dict[str, str], pass_fds: list[int], stdout: Any,
        **_: Any,
    ) -> None:  # fmt: skip
        socket.send_fds(template, [json.dumps(env).encode()], [*pass_fds, stdout.fileno()])
        self.args, self.pid, self.returncode = command, int(template.recv(64)), None
        self.stdin = self.stdout = self.stderr = None
        self._waitpid_lock, self._child_created = threading.Lock(), True
        self._sigint_wait_secs = 0.25


def main() -> None:
    """Fork a server for each message, the environment with two descriptors: its channel, its log."""
    del sys.path[0]  # this file's folder
    for name in forkserver.PRELOADED:
        importlib.import_module(name)
    forkserver.warm_before_fork()
    channel, tests = socket.socket(fileno=int(sys.argv[1])), os.getppid()
    while True:
        environment, descriptors, _, _ = socket.recv_fds(channel, 1 << 20, 2)
        if not environment:
            return
        between = os.fork()
        if between == 0:
            if os.fork() == 0:
                _serve(channel, tests, json.loads(environment), *descriptors)
            os._exit(0)
        os.waitpid(between, 0)
        for descriptor in descriptors:
            os.close(descriptor)


def _serve(channel: socket.socket, tests: int, environment: dict[str, str], descriptor: int, log: int) -> None:
    """Be a fork server, and never return."""
    os.setsid()
    while os.getppid() != tests:
        time.sleep(0.001)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.argv[1:] = [str(descriptor)]
    channel.send(str(os.getpid()).encode())
    channel.close()
    os.close(log)
    try:
        forkserver.main()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
