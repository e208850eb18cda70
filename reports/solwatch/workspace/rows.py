"""Small files of rows, one JSON object a line, that two machines add to and that are merged by their keys."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

Row = TypeVar("Row", bound=msgspec.Struct)


def read_rows(content: bytes, kind: type[Row]) -> list[Row]:
    """Return the rows; raises ``ValueError`` that names the line for anything else."""
    rows = []
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            rows.append(msgspec.json.decode(line, type=kind))
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError(f"line {number} is not a {kind.__name__} ({error})") from error
    return rows


def write_rows(rows: Iterable[msgspec.Struct]) -> bytes:
    """Return the rows as a file's content."""
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def merged_rows(first: Iterable[Row], second: Iterable[Row], key: Callable[[Row], tuple[str, ...]]) -> list[Row]:
    """Return the rows of both, by key; where both have one of a key, ``first`` has it."""
    rows = {key(row): row for row in second}
    rows |= {key(row): row for row in first}
    return [rows[each] for each in sorted(rows)]
