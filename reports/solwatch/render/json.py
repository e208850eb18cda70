"""A judgement as JSON; its schema is published (``solwatch.render.schemas``)."""

import re

import msgspec

from solwatch.judge.judgement import Judgement
from solwatch.model.bisection import Found
from solwatch.model.plain import hidden
from solwatch.model.record import Record, RecordEnd, RecordHeader

SCHEMA_VERSION = 1
"""Grows when a field goes or changes its meaning; new fields alone don't change it."""

_UNUSUAL = re.compile(r"[^\n -~]")


class ReportDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A report as a program reads it: what was asked, what was concluded, why it ended.

    SI units throughout; ratios are head / base. Numbers that are infinite or unknown are null. The rounds stand
    in ``judgement.facts``, reduced to their centres; the samples themselves stay in the record.
    """

    schema_version: int
    header: RecordHeader
    judgement: Judgement
    end: RecordEnd | None


class BisectionDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A bisection as a program reads it: what was asked, the commits, every gate, the answer for each slower cell."""

    schema_version: int
    bisection: Found


def render_json(record: Record, judgement: Judgement) -> bytes:
    """Return the report as UTF-8 JSON, as ``render_document`` writes it."""
    return render_document(
        ReportDocument(schema_version=SCHEMA_VERSION, header=record.header, judgement=judgement, end=record.end)
    )


def render_bisection(found: Found) -> bytes:
    """Return the answer of a bisection as UTF-8 JSON, as ``render_document`` writes it."""
    return render_document(BisectionDocument(schema_version=SCHEMA_VERSION, bisection=found))


def render_document(document: msgspec.Struct) -> bytes:
    """Return a document as UTF-8 JSON with a line break at its end.

    Control and formatting characters are escaped, so that nothing is lost and printing the file is harmless.
    """
    text = msgspec.json.format(msgspec.json.encode(document), indent=1).decode()
    return _UNUSUAL.sub(_shown, text).encode() + b"\n"


def _shown(found: re.Match[str]) -> str:
    if not hidden(found[0]):
        return found[0]
    units = found[0].encode("utf-16-be").hex()  # JSON's escapes are UTF-16; Python's writer leaves DEL as it is
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
