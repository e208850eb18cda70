"""Bisections as they are kept: one small file for each request, replaced as a whole after every gate."""

import hashlib
from pathlib import Path

import msgspec

from solwatch.model.bisection import Asked, Bisection
from solwatch.model.errors import RequestError
from solwatch.workspace.files import read_whole, write_atomically

SCHEMA = 1
"""Number of the format; a file of another one is not gone on with."""

_WHO = ("good", "bad", "inside_merges", "device", "gpus", "cell_set", "patterns")
"""What tells requests apart; a change of anything else makes a request start anew."""


def bisection_path(records: Path, asked: Asked) -> Path:
    """Return where the bisection of ``asked`` is kept below ``records``."""
    told = msgspec.json.encode([getattr(asked, name) for name in _WHO])
    name = f"{asked.good[:8]}-{asked.bad[:8]}-{hashlib.sha256(told).hexdigest()[:8]}"
    return records / "bisect" / f"{name}.json"


def read_bisection(path: Path) -> Bisection | None:
    """Return what ``path`` keeps, ``None`` without a file; raises ``RequestError`` when it holds something else."""
    if not path.exists():
        return None
    try:
        kept = msgspec.json.decode(read_whole(path), type=Bisection)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RequestError(f"{path} is no bisection ({error}): delete it, or start anew with --fresh") from error
    if kept.schema != SCHEMA:
        raise RequestError(
            f"{path}: bisection schema {kept.schema}, this solwatch reads {SCHEMA}: start anew with --fresh"
        )
    return kept


def write_bisection(path: Path, kept: Bisection) -> None:
    """Replace ``path``; raises ``MachineError``."""
    write_atomically(path, msgspec.json.encode(kept) + b"\n")
