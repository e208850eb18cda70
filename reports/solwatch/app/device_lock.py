"""One measurement on a device at a time, whoever measures on this host."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from solwatch.device.places import Place
from solwatch.workspace.locks import FileLock


@contextlib.contextmanager
def device_lock(places: Sequence[Place], say: Callable[[str], None]) -> Iterator[None]:
    """Hold the host's locks on ``places``, waiting for whoever has them; ``say`` is told when there is a wait.

    A GPU is locked by its UUID: processes under different CUDA_VISIBLE_DEVICES number the same GPUs differently.
    Everybody takes the locks in the order of their names, so that two can't wait for each other for ever.
    """
    by_name = {place.lock_name: place for place in places}
    with contextlib.ExitStack() as held:
        for name in sorted(by_name):
            held.enter_context(_locked(by_name[name], say))
        yield


def _locked(place: Place, say: Callable[[str], None]) -> FileLock:
    """Return the lock, taken. The folder is shared by all users of the host: they must be able to open the file."""
    folder = Path(tempfile.gettempdir()) / "solwatch-locks"
    path = folder / f"{place.lock_name}.lock"
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o666))
        path.chmod(0o666)
    lock = FileLock(path)
    shown = f"{place.device} ({place.gpu.uuid})" if place.gpu and place.gpu.uuid else place.device
    lock.acquire(lambda holder: say(f"waiting for {shown}: process {holder} is measuring on it"))
    return lock
