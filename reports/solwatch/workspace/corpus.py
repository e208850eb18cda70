"""Corpus files: a header line and a line for each recorded round; a file is continued where it ended."""

import os
from pathlib import Path
from types import TracebackType

import msgspec

from solwatch.model.corpus import Corpus, CorpusHeader, CorpusRound
from solwatch.model.errors import RequestError
from solwatch.workspace.files import LineWriter, decode_line, disk_errors, read_lines, read_whole

CORPUS_SCHEMA = 1
"""Number of the corpus format; a reader refuses any other."""

_FIRST_BYTES = b'{"corpus":'


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
    if not os.path.exists(path):
        return None
    content = read_whole(path)
    if b"\n" not in content and (content.startswith(_FIRST_BYTES) or not content):
        return None
    return read_corpus(path)


def kept_rounds(path: Path) -> int:
    """Return how many complete rounds the file ``path`` has, which was begun here."""
    return len(read_lines(path)) - 1


def is_corpus(path: Path) -> bool:
    """Return whether ``path`` begins as a corpus does; raises ``RequestError`` when it can't be read."""
    return read_whole(path).startswith(_FIRST_BYTES)


def read_corpus(path: Path) -> Corpus:
    """Read a corpus file.

    A torn last line (a killed recording) is dropped. Raises ``RequestError`` with the line number for anything
    else that isn't a corpus of this schema.
    """
    lines = read_lines(path)
    if not lines:
        raise RequestError(f"{path} is not a solwatch corpus: it has no complete first line")
    found = decode_line(path, 1, lines[0], dict).get("corpus")
    if not isinstance(found, int):
        raise RequestError(f"{path}, line 1: not a solwatch corpus, it has no corpus number")
    if found != CORPUS_SCHEMA:
        raise RequestError(
            f"{path}, line 1: corpus format {found}, this solwatch reads {CORPUS_SCHEMA}: "
            "read it with the solwatch that wrote it"
        )
    header = decode_line(path, 1, lines[0], CorpusHeader)
    rounds = [decode_line(path, number, line, CorpusRound) for number, line in enumerate(lines[1:], start=2)]
    return Corpus(header=header, rounds=rounds)


def _cut(path: Path, length: int) -> None:
    if path.exists():
        with disk_errors(path):
            os.truncate(path, length)
