"""The file of accepted slowdowns: read strictly, added to as an editor would, never half written."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

from solwatch.model.acceptance import MOST_DAYS, Acceptance
from solwatch.model.errors import RequestError
from solwatch.workspace.files import read_file, write_atomically
from solwatch.workspace.tables import checked, parse_toml

FILE = "solwatch.accepted.toml"
MOST_BYTES = 1 << 18
MOST_ENTRIES = 500

_INTRODUCTION = """\
# Slowdowns that were accepted: written by `solwatch accept`, reviewed like code.
# An entry holds for commits that have it against a base that has not; delete it once the reference has it.
"""
_HEADER = re.compile(rb"^[ \t]*\[\[[ \t]*accepted[ \t]*\]\]")


def parse_acceptances(content: bytes, source: str, today: date) -> list[Acceptance]:
    """Return the entries of a file's ``content``; ``source`` names it in messages.

    Raises ``RequestError`` for whatever is not a list of ``[[accepted]]`` tables with sensible dates.
    """
    parsed = parse_toml(content, source)
    for key in parsed.keys() - {"accepted"}:
        raise RequestError(f"unknown setting {key[:80]!r} in {source}: the only one is 'accepted', as [[accepted]]")
    entries = parsed.get("accepted", [])
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise RequestError(f"accepted in {source} is not a list of tables: write each entry as [[accepted]]")
    if len(entries) > MOST_ENTRIES:
        raise RequestError(
            f"{source} has {len(entries)} entries, {MOST_ENTRIES} are the most: delete those that the reference has"
        )
    return [checked_acceptance(entry, source, today, f"accepted[{index}].") for index, entry in enumerate(entries)]


def read_acceptances(path: Path, today: date) -> list[Acceptance]:
    """Return the entries of the file ``path``, none where nothing lies there; raises ``RequestError``."""
    return parse_acceptances(read_file(path, MOST_BYTES) or b"", path.name, today)


def write_acceptance(path: Path, entry: Acceptance, replaced: Sequence[Acceptance], today: date) -> None:
    """Add ``entry`` at the end of ``path``, without the ``replaced`` ones; everything else stays as it is.

    Raises ``RequestError``, and leaves the file alone, when it can't be changed by adding and deleting lines.
    """
    old = read_file(path, MOST_BYTES)
    before = parse_acceptances(old or b"", path.name, today)
    gone = [before.index(each) for each in replaced]
    text = _without(old if old is not None else _INTRODUCTION.encode(), gone)
    text += b"\n" if text.endswith(b"\n") or not text else b"\n\n"
    text += _table(entry)
    wanted = [each for index, each in enumerate(before) if index not in gone] + [entry]
    try:
        right = parse_acceptances(text, path.name, today) == wanted
    except RequestError:
        right = False
    if not right or len(text) > MOST_BYTES:
        raise RequestError(
            f"{path.name} can't be added to by a program: write its entries as [[accepted]] tables, each on lines of "
            f"its own, {MOST_BYTES} bytes at most"
        )
    write_atomically(path, text)


def checked_acceptance(given: Mapping[str, object], source: str, today: date, where: str = "") -> Acceptance:
    """Return ``given`` as an acceptance; raises ``RequestError`` that names the value and what is allowed."""
    entry = Acceptance(**checked(Acceptance, given, source, where))
    said = f"{where}expires = {entry.expires} in {source}"
    if entry.created > today + timedelta(days=1):  # a day ahead is another time zone
        raise RequestError(f"{where}created = {entry.created} in {source}: allowed is a day up to today, {today}")
    if entry.expires < entry.created:
        raise RequestError(f"{said}: allowed is a day from {where}created = {entry.created} on")
    if entry.expires - entry.created > timedelta(days=MOST_DAYS):
        raise RequestError(f"{said}: allowed is a day up to {MOST_DAYS} days after {where}created = {entry.created}")
    return entry


def _without(text: bytes, indices: Sequence[int]) -> bytes:
    """Return ``text`` without the entries at ``indices``; comments above and below an entry are kept."""
    lines = text.splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if _HEADER.match(line)]
    for index in sorted(indices, reverse=True):
        if index >= len(starts):
            continue  # written in another way; the caller sees that the entry is still there
        start, end = starts[index], [*starts, len(lines)][index + 1]
        while end > start + 1 and lines[end - 1].lstrip()[:1] in (b"", b"#"):
            end -= 1
        if start and not lines[start - 1].strip():
            start -= 1
        del lines[start:end]
    return b"".join(lines)


def _table(entry: Acceptance) -> bytes:
    lines = ["[[accepted]]"]
    for name in Acceptance.__struct_fields__:
        value = getattr(entry, name)
        lines.append(f"{name} = {_quoted(value) if isinstance(value, str) else value}")
    try:
        return ("\n".join(lines) + "\n").encode()
    except UnicodeEncodeError:
        raise RequestError("cell, reason and owner must be Unicode text: type them in UTF-8") from None


def _quoted(text: str) -> str:
    # JSON's strings are TOML's, but for DEL, which JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
