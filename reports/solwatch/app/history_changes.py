"""The plot of ``history changes`` and ``issues``: steps in the results along HEAD's line, and which of them are new."""

from dataclasses import dataclass
from pathlib import Path

from solwatch.app.change_points import REPORTED, as_reported, change_points, joined_reported
from solwatch.app.history import History
from solwatch.asvio.merging import BENCHMARKS
from solwatch.asvio.steps import cell_steps
from solwatch.model.errors import NothingMeasuredError, RequestError
from solwatch.model.history import ChangePoint, Reported
from solwatch.model.record import Commit
from solwatch.workspace.files import read_whole, write_atomically
from solwatch.workspace.lineage import commits_between, first_parents, position_of
from solwatch.workspace.rows import read_rows, write_rows

MOST_COMMITS = 20
"""Commits that are named of a range."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change point, whether it was reported before, and the commits that may have made it, newest first."""

    point: ChangePoint
    new: bool
    suspects: list[Commit]


@dataclass(frozen=True, kw_only=True)
class Changes:
    """All change points, oldest first; ``files``: of results that they rest on; ``warnings``: one line each."""

    changes: list[Change]
    files: int
    warnings: list[str]


def found_changes(history: History, *, since: str | None, least_change: float) -> Changes:
    """Return the change points after ``since`` (all without it).

    Raises ``NothingMeasuredError`` when no result is of a commit on HEAD's line.
    """
    order = first_parents(history.repository)
    after = position_of(history.repository, since, order) if since is not None else -1
    warnings: list[str] = []
    steps, files = (
        cell_steps(history.results, order, least_change=least_change, say=warnings.append)
        if (history.results / BENCHMARKS).exists()
        else ({}, 0)
    )
    if not files:
        cut = " of this shallow clone" if history.repository.depth().shallow else ""
        raise NothingMeasuredError(
            f"{history.results} has no result of HEAD or one of its {len(order) - 1} first parents{cut}: "
            "`solwatch history pull` brings the branch's"
        )
    reported = _reported(history.results)
    known = {row.id for row in reported}
    points = change_points(steps, order, reported, least_change=least_change)
    changes = [
        Change(
            point=point,
            new=point.id not in known,
            suspects=commits_between(history.repository, point.good, point.bad, MOST_COMMITS),
        )
        for point in points
        if order[point.bad] > after
    ]
    return Changes(changes=changes, files=files, warnings=warnings)


def mark_reported(history: History, changes: list[Change]) -> None:
    """Remember ``changes`` as reported; ``history push`` takes that to the branch."""
    now = history.clock.now()
    rows = [as_reported(change.point, now) for change in changes if change.new]
    if rows:
        write_atomically(history.results / REPORTED, write_rows(joined_reported(_reported(history.results), rows)))


def _reported(results: Path) -> list[Reported]:
    path = results / REPORTED
    if not path.exists():
        return []
    try:
        return read_rows(read_whole(path), Reported)
    except ValueError as error:
        raise RequestError(f"{path}: {error}: move it away, `solwatch history pull` brings the branch's") from error
