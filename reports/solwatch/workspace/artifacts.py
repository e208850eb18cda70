"""Files that another job handed over, taken for hostile: bounded, typed, never unpacked, never followed.

A file may be a device, a link out of the folder, of no end, or JSON nested without end; an archive may hold names
that lead out of the folder, links, a bomb, or one name twice. Nothing of it is written anywhere.
"""

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Generic, TypeVar

import msgspec

from solwatch.model.plain import plain

MOST_BYTES = 1 << 20
"""Of one JSON file; those that are real have some ten thousand."""

MOST_ARCHIVE_BYTES = 16 << 20
MOST_FILES = 256

_UNZIPPING = (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError)

T = TypeVar("T")


class NotTrusted(Exception):
    """A file is not what it should be; says in one line why."""


@dataclass(frozen=True, kw_only=True)
class Found(Generic[T]):
    """What lies at ``where``: the decoded value, or the ``problem`` with it."""

    where: str
    value: T | None = None
    problem: str = ""


def found_in(source: Path, name: str, kind: type[T]) -> list[Found[T]]:
    """Return what ``source`` holds under ``name``: in a folder itself or in folders right below, or in an archive.

    Whatever is wrong, with the source itself too, is told in the result: nothing is raised.
    """
    if source.is_symlink() or not source.exists():
        return [Found(where=plain(str(source), 80), problem="there is nothing")]
    places = _in_folder(source, name) if source.is_dir() else _in_archive(source, name)
    found: list[Found[T]] = []
    try:
        for where, content in places:
            if len(found) == MOST_FILES:
                raise NotTrusted(f"more than {MOST_FILES} files named {name}")
            found.append(
                decoded(where, content, kind) if isinstance(content, bytes) else Found(where=where, problem=content)
            )
    except NotTrusted as error:
        found.append(Found(where=plain(source.name, 80), problem=str(error)))
    return found


def decoded(where: str, content: bytes, kind: type[T]) -> Found[T]:
    """Return JSON as a ``kind``, or what is wrong with it."""
    try:
        return Found(where=where, value=msgspec.json.decode(content, type=kind))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        return Found(where=where, problem=f"not an {kind.__name__} ({plain(str(error), 120)})")


def _in_folder(folder: Path, name: str) -> Iterator[tuple[str, bytes | str]]:
    """Yield where a file lies and its bytes, or why they were not read."""
    try:
        below = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    except OSError as error:
        raise NotTrusted(f"can't be read: {error.strerror}") from error
    if len(below) > MOST_FILES:
        raise NotTrusted(f"{len(below)} folders, more than {MOST_FILES}")
    for path in [folder / name, *(folder / one / name for one in below)]:
        if os.path.lexists(path):
            where = plain(path.relative_to(folder).as_posix(), 80)
            try:
                yield where, _read(path)
            except NotTrusted as error:
                yield where, str(error)


def _read(path: Path) -> bytes:
    try:
        # Not blocking: a pipe in the file's place would be waited for.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise NotTrusted(f"can't be read, or is a link: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotTrusted("not an ordinary file")
    with os.fdopen(handle, "rb") as file:
        return _bounded(file.read(MOST_BYTES + 1))


def _in_archive(path: Path, name: str) -> Iterator[tuple[str, bytes | str]]:
    if not path.is_file() or path.stat().st_size > MOST_ARCHIVE_BYTES:
        raise NotTrusted(f"not a file of at most {MOST_ARCHIVE_BYTES >> 20} MiB")
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _members(archive, name)
    except (*_UNZIPPING, struct.error) as error:
        raise NotTrusted(f"not a zip file ({plain(str(error), 120)})") from error


def _members(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[str, bytes | str]]:
    seen = set()
    for member in archive.infolist():
        where = PurePosixPath(member.filename)
        if where.name != name or len(where.parts) > 2 or where.is_absolute() or ".." in where.parts:
            continue
        if where in seen:
            raise NotTrusted(f"two files named {plain(str(where), 80)}")
        seen.add(where)
        try:
            yield plain(str(where), 80), _unzipped(archive, member)
        except NotTrusted as error:
            yield plain(str(where), 80), str(error)


def _unzipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        raise NotTrusted("not an ordinary file")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotTrusted("packed in a way that can't be unpacked bit by bit")
    try:
        with archive.open(member) as file:
            return _bounded(file.read(MOST_BYTES + 1))  # what the archive says of its size is not believed
    except (*_UNZIPPING, zlib.error, EOFError) as error:
        raise NotTrusted(f"can't be unpacked ({plain(str(error), 120)})") from error


def _bounded(content: bytes) -> bytes:
    if len(content) > MOST_BYTES:
        raise NotTrusted(f"larger than {MOST_BYTES >> 20} MiB")
    return content
