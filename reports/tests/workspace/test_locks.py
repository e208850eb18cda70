import os
import subprocess
import sys
import threading
from pathlib import Path

from solwatch.workspace.locks import FileLock

HOLD = """
import sys
from pathlib import Path
from solwatch.workspace.locks import FileLock
with FileLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_only_one_holds_and_says_who(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "one.lock"
    with FileLock(path) as held:
        assert held.holder() == os.getpid()
        assert not FileLock(path).try_acquire()
    second = FileLock(path)
    assert second.try_acquire()
    second.release()
    second.release()


def test_waits_for_the_holder_and_is_told_its_pid(tmp_path: Path) -> None:
    path = tmp_path / "one.lock"
    process = holder(path)
    waited: list[int | None] = []
    lock = FileLock(path)

    def let_go(pid: int | None) -> None:
        waited.append(pid)
        assert process.stdin is not None
        threading.Timer(0.05, process.stdin.close).start()

    lock.acquire(let_go)
    with lock:
        assert lock.holder() == os.getpid()
    process.wait()
    assert waited == [process.pid]


def test_a_killed_holder_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "one.lock"
    process = holder(path)
    process.kill()
    process.wait()
    assert FileLock(path).try_acquire()


def test_a_child_given_the_handle_keeps_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "one.lock"
    with FileLock(path) as lock:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock.handle,))
    assert not FileLock(path).try_acquire()
    child.communicate(b"\n")
    assert FileLock(path).try_acquire()
