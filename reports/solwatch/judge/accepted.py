"""Accepted slowdowns in a judgement: which hold for a cell, how large they are together, and what is said of them."""

from collections.abc import Sequence
from datetime import date, timedelta

from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.model.acceptance import Acceptance
from solwatch.model.record import RecordHeader

NOTICE_DAYS = 14
"""So many days before it expires an acceptance is pointed out."""


def accepted_for(header: RecordHeader, key: str) -> list[Acceptance]:
    """Return the acceptances that hold for the cell ``key``.

    Against a reference an expired one does not hold any more; elsewhere it does, and is pointed out.
    """
    if header.reference is None:
        return _written_for(header, key)
    today = _day(header)
    return [entry for entry in _written_for(header, key) if not entry.expired(today)]


def lapsed_for(header: RecordHeader, key: str) -> list[Acceptance]:
    """Return the acceptances of the cell ``key`` that have expired and do not hold here."""
    held = accepted_for(header, key)
    return [entry for entry in _written_for(header, key) if entry not in held]


def size_of(entries: Sequence[Acceptance]) -> float:
    """Return the slowdown, a fraction, that ``entries`` accept together: each is on top of the ones before."""
    size = 0.0
    for entry in entries:
        size += entry.max + size * entry.max  # exactly 0 without any: thresholds must not move by a rounding
    return size


def acceptance_notes(header: RecordHeader) -> list[str]:
    """Return what a reader must know of the acceptances whatever the verdicts: expiry, and those without a cell."""
    today = _day(header) if header.accepted else date.min
    keys = [cell.key for cell in header.cells]
    notes = []
    for entry in header.accepted:
        said = f"the acceptance of {_percent(entry.max)} for {entry.cell} by {entry.owner}"
        if entry.cell != NULL_KERNEL and not any(entry.covers(key, keys) for key in keys):
            notes.append(f"{said} is for no cell that was measured here")
        elif entry.expired(today):
            held = (
                "it still holds here, but not against the reference"
                if header.reference is None
                else "it holds no longer"
            )
            notes.append(f"{said} expired on {entry.expires}: {held}; {_WAY_OUT}")
        elif today + timedelta(days=NOTICE_DAYS) >= entry.expires:
            left = (entry.expires - today).days
            notes.append(f"{said} expires on {entry.expires}, in {left} day{'s' if left != 1 else ''}: {_WAY_OUT}")
    return notes


_WAY_OUT = "repair the kernel, or renew it (solwatch accept --replace)"


def terms(entry: Acceptance) -> str:
    """Return ``up to 3 % by OWNER until DATE: REASON``."""
    return f"up to {_percent(entry.max)} by {entry.owner} until {entry.expires}: {entry.reason}"


def _written_for(header: RecordHeader, key: str) -> list[Acceptance]:
    keys = [cell.key for cell in header.cells] if header.accepted else []
    # The null kernel is every cell's launch path: no glob may take it along unseen.
    return [
        entry for entry in header.accepted if (entry.cell == key if key == NULL_KERNEL else entry.covers(key, keys))
    ]


def _day(header: RecordHeader) -> date:
    return date.fromisoformat(header.created_at[:10])


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.3g} %"
