"""What came of a gate or a run."""

from dataclasses import dataclass
from pathlib import Path

from solwatch.judge.judgement import Judgement
from solwatch.model.record import Record


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Where things were written, and what could not be. ``report``: the page, ``None`` when it couldn't be."""

    report: Path | None
    record: Path
    warnings: list[str]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of it: the record, its judgement, and where things were written."""

    record: Record
    judgement: Judgement
    kept: Kept
