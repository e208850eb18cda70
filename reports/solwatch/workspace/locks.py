"""A lock between processes that shows who holds it and dies with its holder."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from solwatch.workspace.files import disk_errors


class FileLock:
    """An exclusive lock on ``path`` (``flock``), held by this process and by children given ``handle``.

    The file holds the pid of the last holder and is never deleted: deleting a lock file lets two processes hold
    "the" lock. The kernel lets go when the last process that has the handle ends, however it ends.
    """

    def __init__(self, path: Path, *, on_wait: Callable[[str], None] = lambda line: None) -> None:
        """Name the lock; nothing is opened yet. ``on_wait`` is given a line once when there is a wait."""
        self.path = path
        self.handle = -1
        self._on_wait = on_wait

    def try_acquire(self) -> bool:
        """Take the lock if it is free; return whether it is held now. Raises ``MachineError``."""
        handle = self._open()
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        self._take(handle)
        return True

    def acquire(self) -> None:
        """Take the lock, waiting for it as long as it takes. Raises ``MachineError``."""
        if self.try_acquire():
            return
        holder = self.holder()
        by = f"process {holder}" if holder else "another process"
        self._on_wait(f"waiting for {by}, which holds {self.path}")
        handle = self._open()
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except BaseException:
            os.close(handle)
            raise
        self._take(handle)

    def holder(self) -> int | None:
        """Return the pid in the lock file, ``None`` when there is none."""
        try:
            return int(self.path.read_text())
        except (OSError, ValueError):
            return None

    def release(self) -> None:
        """Let go; safe to call when not held."""
        if self.handle >= 0:
            # closing, not LOCK_UN: a child that was given the handle goes on holding the lock
            os.close(self.handle)
            self.handle = -1

    def _open(self) -> int:
        with disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                # without O_CREAT first: in /tmp, Linux refuses O_CREAT on a file of another user
                return os.open(self.path, os.O_RDWR | os.O_NOFOLLOW)
            except FileNotFoundError:
                handle = os.open(self.path, os.O_RDWR | os.O_NOFOLLOW | os.O_CREAT, 0o666)
                os.fchmod(handle, 0o666)  # users of one machine share its devices; the umask would lock them out
                return handle

    def _take(self, handle: int) -> None:
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        self.handle = handle

    def __enter__(self) -> "FileLock":
        if self.handle < 0:
            self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def device_lock_path(device: str) -> Path:
    """Return the lock that all users of this machine share for ``device`` (``cpu``, ``cuda:0``).

    Two measurements on one device would each see the other. CUDA numbers devices within ``CUDA_VISIBLE_DEVICES``,
    so the lock is named by what the number stands for there.
    """
    kind, _, index = device.partition(":")
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    number = int(index or 0)
    name = visible[number] if kind == "cuda" and number < len(visible) else index or "0"
    safe = "".join(mark if mark.isalnum() or mark in "-_" else "_" for mark in name)
    return Path("/tmp") / f"solwatch-{kind}-{safe}.lock"
