"""Corpus files: a header line and a line for each recorded round; a file is continued where it ended."""

import os
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import msgspec

from solwatch.model.corpus import Corpus, CorpusHeader, CorpusRound
from solwatch.model.errors import RequestError
from solwatch.workspace.files import LineWriter, disk_errors, read_lines

CORPUS_SCHEMA = 1
"""Number of the corpus format; a reader refuses any other."""

_FIRST_BYTES = b'{"corpus":'

_Line = TypeVar("_Line")


class CorpusWriter:
    """Adds rounds to a corpus file; every line is on disk before the call that wrote it returns."""

    def __init__(self, lines: LineWriter) -> None:
        """Use :meth:`begin` or :meth:`resume`."""
        self._lines = lines

    @classmethod
    def begin(cls, path: Path, header: CorpusHeader) -> "CorpusWriter":
        """Start a file at ``path``; raises ``MachineError`` when it can't be written."""
        _cut(path, 0)
        writer = cls(LineWriter(path, fresh=False))
        writer._lines.append(msgspec.json.encode(header))
        return writer

    @classmethod
    def resume(cls, path: Path) -> "CorpusWriter":
        """Go on after the last complete line of ``path``; raises ``MachineError`` when it can't be written."""
        _cut(path, sum(len(line) + 1 for line in read_lines(path)))
        return cls(LineWriter(path, fresh=False))

    def append(self, completed: CorpusRound) -> None:
        """Add a completed round; raises ``MachineError``, earlier rounds kept."""
        self._lines.append(msgspec.json.encode(completed))

    def __enter__(self) -> "CorpusWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lines.close()


def begun_corpus(path: Path) -> Corpus | None:
    """Return what ``path`` holds so far, ``None`` when it has yet to begin.

    Raises ``RequestError`` for a file that is something else: it is never overwritten.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RequestError(f"the corpus {path} can't be read: {error.strerror}") from error
    if b"\n" not in content and (content.startswith(_FIRST_BYTES) or not content):
        return None
    return read_corpus(path)


def read_corpus(path: Path) -> Corpus:
    """Read a corpus file.

    A torn last line (a killed recording) is dropped. Raises ``RequestError`` with the line number for anything
    else that isn't a corpus of this schema.
    """
    try:
        lines = read_lines(path)
    except OSError as error:
        raise RequestError(f"the corpus {path} can't be read: {error.strerror}") from error
    if not lines:
        raise RequestError(f"{path} is not a solwatch corpus: it has no complete first line")
    found = _decode(path, 1, lines[0], dict[str, object]).get("corpus")
    if found is None:
        raise RequestError(f"{path}, line 1: not a solwatch corpus, it has no corpus number")
    if found != CORPUS_SCHEMA:
        raise RequestError(
            f"{path}, line 1: corpus format {found!r}, this solwatch reads {CORPUS_SCHEMA}: "
            "read it with the solwatch that wrote it"
        )
    header = _decode(path, 1, lines[0], CorpusHeader)
    rounds = [_decode(path, number, line, CorpusRound) for number, line in enumerate(lines[1:], start=2)]
    return Corpus(header=header, rounds=rounds)


def _decode(path: Path, number: int, line: bytes, kind: type[_Line]) -> _Line:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.DecodeError as error:
        name = kind.__name__ if kind in (CorpusHeader, CorpusRound) else "JSON object"
        raise RequestError(f"{path}, line {number}: not a {name} ({error})") from error


def _cut(path: Path, length: int) -> None:
    if path.exists():
        with disk_errors(path):
            os.truncate(path, length)
