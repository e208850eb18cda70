"""Change points as text, as JSON, and as the issue that each of the slower ones deserves."""

import json
import re
import shlex
from collections.abc import Sequence
from typing import Protocol

import msgspec

from solwatch.model.history import CellStep, ChangePoint
from solwatch.model.plain import plain
from solwatch.model.record import Commit
from solwatch.render.json import render_document
from solwatch.render.markdown import block, code
from solwatch.render.units import change, quantity

SCHEMA_VERSION = 1
"""Number of the JSON documents; a field may be added without a new one, none is removed or changes its meaning."""

MOST_BISECTED = 3
"""Change points of one night that are bisected."""

_MOST_CELLS = 40
_MOST_CELLS_BISECTED = 3
"""Cells that the bisect command names: each makes its gates longer, and the largest changes show best."""

_SHORT = 10


class Found(Protocol):
    """A change point with what else is known of it."""

    @property
    def point(self) -> ChangePoint:
        """The change point."""

    @property
    def new(self) -> bool:
        """Whether it has not been reported yet."""

    @property
    def suspects(self) -> Sequence[Commit]:
        """The commits that may have made it, newest first."""


class ChangeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A change point in JSON."""

    point: ChangePoint
    new: bool
    suspects: list[Commit]
    bisect: str


class ChangesDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``--json`` writes."""

    schema_version: int
    changes: list[ChangeDocument]


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """One issue as it ought to be.

    ``marker``: stands in the body, by it an issue that exists is found. ``state``: ``open``, or ``closed`` once no cell
    is at its slower level any more. ``new``: whether it has not been reported yet.
    """

    id: str
    marker: str
    title: str
    body: str
    state: str
    new: bool


class IssuesDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``issues`` prints."""

    schema_version: int
    issues: list[Issue]


def render_changes(changes: Sequence[Found], *, known: int, files: int) -> str:
    """Return the change points to be shown, one line each, under a line that counts them.

    ``known``: those that are not shown because they were reported; ``files``: of results that all rest on.
    """
    fresh = sum(each.new for each in changes)
    counted = (
        f"{fresh} new change point{'s' if fresh != 1 else ''}, {known} reported before, in {files} files of results"
    )
    lines = [_line(each) for each in changes]
    advice = [f"→ {bisect_command(each.point)}" for each in changes if each.new and each.point.direction == "slower"]
    return "\n".join([counted, *lines, *advice])


def render_changes_json(changes: Sequence[Found]) -> bytes:
    """Return the change points as JSON."""
    documents = [
        ChangeDocument(point=each.point, new=each.new, suspects=list(each.suspects), bisect=bisect_command(each.point))
        for each in changes
    ]
    return render_document(ChangesDocument(schema_version=SCHEMA_VERSION, changes=documents))


def render_changes_markdown(changes: Sequence[Found]) -> str:
    """Return the change points as Markdown, one section each."""
    sections = [f"## {_escaped_title(each.point)}\n\n{_body(each)}" for each in changes]
    return "\n\n".join(sections or ["No new change points."]) + "\n"


def render_issues(changes: Sequence[Found]) -> bytes:
    """Return as JSON an issue for each slower change point, whether it was reported before or not."""
    issues = [_issue(each) for each in changes if each.point.direction == "slower"]
    return render_document(IssuesDocument(schema_version=SCHEMA_VERSION, issues=issues))


def bisect_matrix(changes: Sequence[Found]) -> tuple[str, int]:
    """Return the value of ``strategy.matrix`` on one line, a job for each new slower change point, and their number.

    The largest changes come first, ``MOST_BISECTED`` of them at most: each takes a machine for an hour or so. A job has
    ``change`` (the id), ``machine``, ``good``, ``bad`` and ``bench``: expressions for the cells, one a line.
    """
    slower = [each.point for each in changes if each.new and each.point.persists and each.point.direction == "slower"]
    slower.sort(key=lambda point: point.cells[0].slowdown_ratio, reverse=True)
    jobs = [
        {
            "change": point.id,
            "machine": point.machine,
            "good": point.good,
            "bad": point.bad,
            "bench": "\n".join(_expressions(point)),
        }
        for point in slower[:MOST_BISECTED]
    ]
    return json.dumps({"include": jobs}, separators=(",", ":")), len(jobs)


def bisect_command(point: ChangePoint) -> str:
    """Return the command that looks for the commit, safe to paste into a shell."""
    words = ["solwatch", "bisect", point.good, point.bad]
    for expression in _expressions(point):
        words += ["-b", expression]
    return shlex.join(words)


def _expressions(point: ChangePoint) -> list[str]:
    cells = list(dict.fromkeys(step.cell for step in point.cells))[:_MOST_CELLS_BISECTED]
    return [f"^{re.escape(plain(cell))}$" for cell in cells]


def _issue(found: Found) -> Issue:
    point = found.point
    marker = f"<!-- solwatch-change-point {point.id} -->"
    return Issue(
        id=point.id,
        marker=marker,
        title=_title(point),
        body=f"{marker}\n{_body(found)}\n",
        state="open" if point.persists else "closed",
        new=found.new,
    )


def _title(point: ChangePoint) -> str:
    largest = point.cells[0]
    others = len({step.cell for step in point.cells}) - 1
    more = f" and {others} more" if others else ""
    return f"{change(largest.slowdown_ratio)} in {plain(largest.cell, 120)}{more} on {plain(point.machine, 60)}"


def _escaped_title(point: ChangePoint) -> str:
    return f"{change(point.cells[0].slowdown_ratio)} in {code(point.cells[0].cell)} on {code(point.machine)}"


def _body(found: Found) -> str:
    point = found.point
    count = len({step.cell for step in point.cells})
    cells = "One cell is" if count == 1 else f"{count} cells are"
    suspects = [f"- {commit.sha[:_SHORT]} {code(commit.subject)}" for commit in found.suspects]
    parts = [
        f"{cells} {point.direction} on {code(point.machine)} from "
        f"{point.bad[:_SHORT]} on; {point.good[:_SHORT]} is the last commit measured before. " + _state(point),
        "\n".join(_cell(step) for step in point.cells[:_MOST_CELLS]),
        f"and {len(point.cells) - _MOST_CELLS} more" if len(point.cells) > _MOST_CELLS else "",
        "Commits that may have done it, newest first:\n" + "\n".join(suspects) if suspects else "",
        "To look for the commit, on a machine of that kind:\n"
        + "\n".join(block([bisect_command(point)], limit=20_000)),
        "Levels are those of asv's step detection over stored results: they say where to look, a gate has the verdict.",
    ]
    return "\n\n".join(part for part in parts if part)


def _state(point: ChangePoint) -> str:
    return "It lasts." if point.persists else "The last results are back at the level before."


def _cell(step: CellStep) -> str:
    figures = f"{quantity(step.before, step.unit)} → {quantity(step.after, step.unit)}"
    return (
        f"- {code(step.cell)} {_method(step)}: {change(step.slowdown_ratio)}, {code(figures)} "
        f"({step.results[0]} results before, {step.results[1]} after; {step.good[:_SHORT]}..{step.bad[:_SHORT]})"
    )


def _method(step: CellStep) -> str:
    return code(step.benchmark.rpartition(".")[2])


def _line(found: Found) -> str:
    point, largest = found.point, found.point.cells[0]
    others = len(point.cells) - 1
    figures = f"{quantity(largest.before, largest.unit)} → {quantity(largest.after, largest.unit)}"
    return plain(
        f"{point.id}  {point.direction}  {change(largest.slowdown_ratio)}  "
        f"{point.good[:_SHORT]}..{point.bad[:_SHORT]}  "
        f"{plain(point.machine, 60)}  {plain(largest.cell, 120)}  {figures}"
        + (f"  and {others} more" if others else "")
        + ("" if point.persists else "  (gone again)")
        + ("" if found.new else "  (reported before)")
    )
