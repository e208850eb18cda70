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

    def __init__(self, path: Path) -> None:
        """Name the lock; nothing is opened yet."""
        self.path = path
        self.handle = -1

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

    def acquire(self, on_wait: Callable[[int | None], None] | None = None) -> None:
        """Take the lock, waiting for it as long as it takes; raises ``MachineError``.

        ``on_wait`` is told the holder's pid, once, when there is a wait.
        """
        if self.try_acquire():
            return
        if on_wait is not None:
            on_wait(self.holder())
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
