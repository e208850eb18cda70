"""A joint verdict as Markdown: a pull request's comment, and the summary of the job that joins.

All of it comes out of files that other jobs wrote, so that every text in it is taken for hostile.
"""

from collections.abc import Sequence

from solwatch.model.joint_verdict import JointVerdict
from solwatch.render.joint_view import EntryView, JointView, joint_view
from solwatch.render.markdown import (
    CUT_BYTES,
    cells,
    code,
    figure,
    fitting,
    reasons,
    size_bytes,
    table_head,
    table_row,
)
from solwatch.render.units import ABSENT
from solwatch.render.verdict_view import VerdictView

COMMENT_BYTES = 65_536
"""GitHub takes so many characters; no text has more characters than bytes."""

MARKER = "<!-- solwatch:comment -->"
"""First line of the comment, by which it is found again and replaced."""

MOST_PROBLEMS = 10


def render_comment(joint: JointVerdict, *, run_url: str = "") -> str:
    """Return the comment, at most ``COMMENT_BYTES``; ``run_url``: where the reports are, from a trusted source."""
    return render_joint(joint, run_url=run_url, most_bytes=COMMENT_BYTES - size_bytes([MARKER]), before=[MARKER])


def render_joint(
    joint: JointVerdict, *, run_url: str = "", most_bytes: int = COMMENT_BYTES, before: Sequence[str] = ()
) -> str:
    """Return verdict, entries and worst cells as Markdown of at most ``most_bytes``; what is cut is counted."""
    view = joint_view(joint)
    opening, closing = _opening(view), _closing(view, run_url)
    room = most_bytes - size_bytes([*opening, *closing])
    entries = _entries(view.entries, room)
    room -= size_bytes(entries)
    tables = _tables(view.entries, room)
    said = [_reason(entry, cell) for entry in view.entries for cell in entry.cells]
    why = reasons(said, room - size_bytes(tables))
    return "\n".join([*before, *opening, *entries, *tables, *why, *closing]) + "\n"


def render_joint_line(joint: JointVerdict) -> str:
    """Return the verdict and a line for each entry and each problem, without markup."""
    view = joint_view(joint)
    lines = [f"{view.title}: {view.text}"]
    lines += [f"  {one.entry}: {one.word}: {one.text}{one.trials}" for one in view.entries]
    lines += [f"  not trusted: {problem}" for problem in view.problems]
    return "\n".join(lines)


def _opening(view: JointView) -> list[str]:
    lines = [f"### {view.title}", "", code(view.text, 400), ""]
    return [*lines, f"{code(view.head)} against {code(view.base)}", ""] if view.head else lines


def _closing(view: JointView, run_url: str) -> list[str]:
    lines = [f"- not trusted: {code(problem)}" for problem in view.problems[:MOST_PROBLEMS]]
    if (left := len(view.problems) - MOST_PROBLEMS) > 0:
        lines.append(f"- and {left} more that can't be trusted")
    if view.failed and view.head:
        lines.append(f"- to see it: `solwatch gate {view.base} {view.head}`")
    if run_url:
        lines.append(f"- reports of all cells: {run_url}")
    return lines


def _entries(entries: Sequence[EntryView], room_bytes: int) -> list[str]:
    if not entries:
        return []
    head = table_head(["runner", "card", "verdict", "cells", "what it says"])
    rows = fitting([_entry(one) for one in entries], room_bytes - size_bytes(head) - CUT_BYTES)
    left = len(entries) - len(rows)
    return [*head, *rows, "", *([f"and {left} runners more", ""] if left else [])]


def _entry(one: EntryView) -> str:
    card, coverage = (ABSENT if text == ABSENT else code(text, 60) for text in (one.card, one.coverage))
    return table_row([code(one.entry), card, one.word, coverage, code(one.text) + one.trials])


def _tables(entries: Sequence[EntryView], room_bytes: int) -> list[str]:
    """Return a table of the worst cells of each entry that has any."""
    lines: list[str] = []
    left = 0
    for entry in entries:
        head = [
            f"#### {code(entry.entry)}",
            "",
            *table_head(["cell", "verdict", "head/base", "95 %", "MDE"], right=3),
        ]
        rows = fitting([_cell(cell) for cell in entry.cells], room_bytes - size_bytes([*lines, *head]) - CUT_BYTES)
        left += len(entry.cells) - len(rows)
        lines += [*head, *rows, ""] if rows else []
    return [*lines, *([f"and {cells(left)} more; the report has all", ""] if left else [])]


def _cell(cell: VerdictView) -> str:
    return table_row([code(cell.key), cell.word, *map(figure, (cell.change, cell.interval, cell.mde))])


def _reason(entry: EntryView, cell: VerdictView) -> list[str]:
    return [f"{cell.word} on {entry.entry}: {cell.key}", *(f"  - {sentence}" for sentence in cell.evidence[:5])]
