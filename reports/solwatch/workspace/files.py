"""Files that are either old or new, never half: atomic replacement, and JSON lines that survive a kill."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import msgspec

from solwatch.model.errors import MachineError, RequestError, SolwatchError

MOST_BYTES = 1 << 30
"""What is read of one file at most: a device has no end, and decoding takes a multiple of this in memory."""

_FULL = {errno.ENOSPC, errno.EDQUOT}
_DENIED = {errno.EROFS, errno.EACCES, errno.EPERM}
_MISNAMED = {errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG}

_Line = TypeVar("_Line")


def disk_error(path: Path, error: OSError) -> SolwatchError:
    """Return the one-line error for an ``OSError`` met while writing ``path``."""
    if error.errno in _FULL:
        return MachineError(f"no space left for {path}: free some space on that disk and run again")
    if error.errno in _DENIED:
        return MachineError(f"{path} can't be written ({os.strerror(error.errno or 0)}): make its folder writable")
    if error.errno in _MISNAMED:
        said = os.strerror(error.errno or 0)
        return RequestError(f"{path} can't be written: {said}; name another path, or move away what lies there")
    return MachineError(f"{path} can't be written: {error.strerror or error}")


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn every ``OSError`` of the block into the one-line error for ``path``."""
    try:
        yield
    except OSError as error:
        raise disk_error(path, error) from error


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable; a rename is only on disk after this."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def require_writable(folder: Path) -> None:
    """Raise ``MachineError`` when no file can be made in ``folder``, which is made when missing."""
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle, probe = tempfile.mkstemp(dir=folder, prefix=".probe.")
        os.close(handle)
        os.unlink(probe)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data``; whoever reads sees the old file or the new one.

    The folder is made when missing. Raises ``MachineError`` when the disk is full or can't be written; the old
    file is untouched then.
    """
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                # mkstemp gives 0600, and results are meant to be read by others (the web server, CI)
                os.fchmod(file.fileno(), 0o644)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


class LineWriter:
    """Appends lines to a file, each on disk before ``append`` returns.

    A line that could not be written whole (full disk) is cut off again, so that what was there stays readable.
    """

    def __init__(self, path: Path, *, fresh: bool) -> None:
        """Open ``path``; ``fresh`` refuses a file that exists (``MachineError``)."""
        self.path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_EXCL if fresh else 0)
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._handle = os.open(path, flags, 0o644)
            self._good = os.fstat(self._handle).st_size
            sync_folder(path.parent)
        except FileExistsError as error:
            raise MachineError(f"{path} exists already and is not overwritten: give the run another name") from error
        except OSError as error:
            raise disk_error(path, error) from error

    def append(self, line: bytes) -> None:
        """Write ``line`` (without its newline) and sync; raises ``MachineError``, earlier lines kept."""
        left = memoryview(line + b"\n")
        try:
            while left:
                left = left[os.write(self._handle, left) :]
            os.fsync(self._handle)
        except OSError as error:
            os.ftruncate(self._handle, self._good)
            raise disk_error(self.path, error) from error
        self._good += len(line) + 1

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> "LineWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def read_whole(path: Path) -> bytes:
    """Return what ``path`` holds; raises ``RequestError`` when it can't be read or has no end in reach (a device)."""
    content = bytearray()
    try:
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                content += part
                if len(content) > MOST_BYTES:
                    raise RequestError(f"{path} has more than {MOST_BYTES >> 20} MiB: name a file of solwatch's")
    except OSError as error:
        raise RequestError(f"{path} can't be read: {error.strerror}") from error
    return bytes(content)


def read_file(path: Path, most_bytes: int) -> bytes | None:
    """Return what the file ``path`` holds, ``None`` where nothing lies there.

    Raises ``RequestError`` when it can't be read, is no file (a link is none) or has more than ``most_bytes``.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise RequestError(f"{path} is not a file: put an ordinary file there")
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RequestError(f"{path} can't be read: {error.strerror}") from error
    if len(content) > most_bytes:
        raise RequestError(f"{path} has more than {most_bytes} bytes: that is more than is read")
    return content


def read_lines(path: Path) -> list[bytes]:
    """Return the complete lines of ``path``; a last line without its newline was torn by a kill and is dropped.

    Raises ``RequestError`` as ``read_whole`` does.
    """
    return read_whole(path).split(b"\n")[:-1]


def decode_line(path: Path, number: int, line: bytes, kind: type[_Line], *, name: str | None = None) -> _Line:
    """Return ``line`` of JSON as a ``kind``; raises ``RequestError`` that names the file, the line and the kind.

    ``name``: what the error calls the kind.
    """
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        wanted = name or ("JSON object" if kind is dict else kind.__name__)
        raise RequestError(f"{path}, line {number}: not a {wanted} ({error})") from error
