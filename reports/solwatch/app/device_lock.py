"""One measurement on a device at a time, whoever measures on this host."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from solwatch.workspace.locks import FileLock


@contextlib.contextmanager
def device_lock(device: str, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the host's lock on ``device``, waiting for whoever has it; ``say`` is told when there is a wait.

    The folder is shared by all users of the host: another user's lock must be openable, or it can't be waited for.
    """
    folder = Path(tempfile.gettempdir()) / "solwatch-locks"
    path = folder / f"{device.replace(':', '-')}.lock"
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o666))
        path.chmod(0o666)
    lock = FileLock(path)
    lock.acquire(lambda holder: say(f"waiting for {device}: process {holder} is measuring on it"))
    with lock:
        yield
