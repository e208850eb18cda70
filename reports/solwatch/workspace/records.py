"""Record files: a header line, a line for each completed round, an end line, one of what explains the verdicts."""

from pathlib import Path
from types import TracebackType

import msgspec

from solwatch.model.errors import RequestError
from solwatch.model.record import Record, RecordEnd, RecordHeader, Round
from solwatch.model.why import Why
from solwatch.workspace.files import LineWriter, decode_line, read_lines

SCHEMA = 1
"""Number of the record format; a reader refuses any other."""


class _WhyLine(msgspec.Struct, frozen=True):
    why: Why


class _Names(msgspec.Struct, frozen=True):
    """Which line it is; what else stands there is passed over and not made into objects."""

    why: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    stopped: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class RecordWriter:
    """Writes one record; every line is on disk before the call that wrote it returns."""

    def __init__(self, lines: LineWriter) -> None:
        """Use :meth:`create`."""
        self._lines = lines

    @classmethod
    def create(cls, path: Path, header: RecordHeader) -> "RecordWriter":
        """Start a record at ``path``, which must not exist; raises ``MachineError`` when it can't be written."""
        writer = cls(LineWriter(path, fresh=True))
        writer._lines.append(msgspec.json.encode(header))
        return writer

    @property
    def path(self) -> Path:
        """Where the record lies."""
        return self._lines.path

    def append(self, completed: Round) -> None:
        """Add a completed round; raises ``MachineError``, earlier rounds kept."""
        self._lines.append(msgspec.json.encode(completed))

    def finish(self, end: RecordEnd) -> None:
        """Add the end and close the file."""
        self._lines.append(msgspec.json.encode(end))
        self.close()

    def close(self) -> None:
        """Close the file without an end, as an interrupted run does."""
        self._lines.close()

    def __enter__(self) -> "RecordWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def add_why(path: Path, why: Why) -> None:
    """Add to a finished record what explains its verdicts; raises ``MachineError``, the record kept as it was."""
    with LineWriter(path, fresh=False) as lines:
        lines.append(msgspec.json.encode(_WhyLine(why)))


def read_record(path: Path) -> Record:
    """Read a record, finished or not.

    A torn last line (a killed run) is dropped. Raises ``RequestError`` with the line number for anything else
    that isn't a record of this schema.
    """
    lines = read_lines(path)
    if not lines:
        raise RequestError(f"{path} is not a solwatch record: it has no complete first line")
    _check_schema(path, lines[0])
    header = decode_line(path, 1, lines[0], RecordHeader)
    rounds: list[Round] = []
    end: RecordEnd | None = None
    why: Why | None = None
    for number, line in enumerate(lines[1:], start=2):
        names = decode_line(path, number, line, _Names, name="JSON object")
        if end is not None and why is None and names.why is not msgspec.UNSET:
            why = decode_line(path, number, line, _WhyLine).why
        elif end is not None:
            raise RequestError(f"{path}, line {number}: nothing may follow the end of a record but why")
        elif names.stopped is not msgspec.UNSET:
            end = decode_line(path, number, line, RecordEnd)
        else:
            rounds.append(decode_line(path, number, line, Round))
    return Record(header=header, rounds=rounds, end=end, why=why)


def _check_schema(path: Path, line: bytes) -> None:
    found = decode_line(path, 1, line, dict).get("schema")
    if not isinstance(found, int):
        raise RequestError(f"{path}, line 1: not a solwatch record, it has no schema number")
    if found != SCHEMA:
        raise RequestError(
            f"{path}, line 1: record schema {found}, this solwatch reads {SCHEMA}: "
            "read it with the solwatch that wrote it"
        )
