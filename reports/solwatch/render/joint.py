"""A joint verdict as Markdown: a pull request's comment, and the summary of the job that joins.

All of it comes out of files that other jobs wrote, so that every text in it is taken for hostile.
"""

from collections.abc import Sequence

from solwatch.model.entry_verdict import MOST_CELLS, EntryVerdict
from solwatch.model.joint_verdict import EntryResult, JointVerdict
from solwatch.model.plain import plain
from solwatch.model.verdict import CellVerdict
from solwatch.render.headline import verdict_word
from solwatch.render.markdown import (
    CUT_BYTES,
    cells,
    code,
    fitting,
    reasons,
    size_bytes,
    table_head,
    table_row,
)
from solwatch.render.units import ABSENT, change, detectable

COMMENT_BYTES = 65_536
"""GitHub takes so many characters; no text has more characters than bytes."""

MARKER = "<!-- solwatch:comment -->"
"""First line of the comment, by which it is found again and replaced."""

MOST_PROBLEMS = 10
_INFRASTRUCTURE = "INFRASTRUCTURE: no verdict on this change"
_TITLES = {0: "PASS", 1: "FAIL", 2: "REFUSED: the request is wrong", 4: "NOTHING DECIDED"}


def render_comment(joint: JointVerdict, *, run_url: str = "") -> str:
    """Return the comment, at most ``COMMENT_BYTES``; ``run_url``: where the reports are, from a trusted source."""
    return render_joint(joint, run_url=run_url, most_bytes=COMMENT_BYTES - size_bytes([MARKER]), before=[MARKER])


def render_joint(
    joint: JointVerdict, *, run_url: str = "", most_bytes: int = COMMENT_BYTES, before: Sequence[str] = ()
) -> str:
    """Return verdict, entries and worst cells as Markdown of at most ``most_bytes``; what is cut is counted."""
    opening, closing = _opening(joint), _closing(joint, run_url)
    room = most_bytes - size_bytes([*opening, *closing])
    entries = _entries(joint.entries, room)
    room -= size_bytes(entries)
    found = [one.verdict for one in joint.entries if one.verdict is not None]
    tables = _tables(found, room)
    said = [_reason(verdict, cell) for verdict in found for cell in verdict.cells[:MOST_CELLS]]
    why = reasons(said, room - size_bytes(tables))
    return "\n".join([*before, *opening, *entries, *tables, *why, *closing]) + "\n"


def render_joint_line(joint: JointVerdict) -> str:
    """Return the verdict and a line for each entry and each problem, without markup."""
    lines = [f"{_TITLES.get(joint.code, _INFRASTRUCTURE)}: {plain(joint.text)}"]
    lines += [f"  {one.entry}: {_word(one)}: {plain(_text(one))}{_trials(one)}" for one in joint.entries]
    lines += [f"  not trusted: {plain(problem)}" for problem in joint.problems]
    return "\n".join(lines)


def _opening(joint: JointVerdict) -> list[str]:
    lines = [f"### {_TITLES.get(joint.code, _INFRASTRUCTURE)}", "", code(joint.text, 400), ""]
    plan = joint.plan
    if plan is not None and plan.base and plan.head:
        lines += [f"{code(plan.head[:10])} against {code(plan.base[:10])}", ""]
    return lines


def _closing(joint: JointVerdict, run_url: str) -> list[str]:
    lines = [f"- not trusted: {code(problem)}" for problem in joint.problems[:MOST_PROBLEMS]]
    if (left := len(joint.problems) - MOST_PROBLEMS) > 0:
        lines.append(f"- and {left} more that can't be trusted")
    plan = joint.plan
    if joint.code == 1 and plan is not None and plan.base and plan.head:
        lines.append(f"- to see it: `solwatch gate {plan.base[:10]} {plan.head[:10]}`")
    if run_url:
        lines.append(f"- reports of all cells: {run_url}")
    return lines


def _entries(results: Sequence[EntryResult], room_bytes: int) -> list[str]:
    if not results:
        return []
    head = table_head(["runner", "card", "verdict", "cells", "what it says"])
    rows = fitting([_entry(one) for one in results], room_bytes - size_bytes(head) - CUT_BYTES)
    left = len(results) - len(rows)
    return [*head, *rows, "", *([f"and {left} runners more", ""] if left else [])]


def _entry(result: EntryResult) -> str:
    verdict = result.verdict
    card = code(verdict.fingerprint.model, 60) if verdict and verdict.fingerprint else ABSENT
    coverage = code(verdict.coverage, 60) if verdict else ABSENT
    return table_row([code(result.entry), card, _word(result), coverage, code(_text(result)) + _trials(result)])


def _word(result: EntryResult) -> str:
    return {0: "pass", 1: "fail", 2: "refused", 4: "undecided"}.get(result.code, "infrastructure")


def _text(result: EntryResult) -> str:
    return result.verdict.text if result.verdict else result.problem


def _trials(result: EntryResult) -> str:
    said = ""
    if result.retried:
        where = {True: "on the same machine", False: "on another machine", None: "on a machine that is not known"}
        said += f"; measured again {where[result.same_machine]}"
    if result.verdict and result.verdict.reused:
        said += f"; reused from run {result.verdict.reused.run or ABSENT}"
    return said


def _tables(verdicts: Sequence[EntryVerdict], room_bytes: int) -> list[str]:
    """Return a table of the worst cells of each entry that has any."""
    lines: list[str] = []
    left = 0
    for verdict in verdicts:
        shown = verdict.cells[:MOST_CELLS]
        head = [
            f"#### {code(verdict.entry)}",
            "",
            *table_head(["cell", "verdict", "head/base", "95 %", "MDE"], right=3),
        ]
        rows = fitting([_cell(cell) for cell in shown], room_bytes - size_bytes([*lines, *head]) - CUT_BYTES)
        left += len(shown) - len(rows)
        lines += [*head, *rows, ""] if rows else []
    return [*lines, *([f"and {cells(left)} more; the report has all", ""] if left else [])]


def _cell(cell: CellVerdict) -> str:
    ratio = cell.slowdown_ratio
    interval = ABSENT
    if ratio is not None and ratio.low is not None and ratio.high is not None:
        interval = f"{change(ratio.low, ratio.point)} … {change(ratio.high, ratio.point)}"
    said = verdict_word(cell.verdict, cell.reason)
    return table_row([code(cell.key), said, change(ratio.point) if ratio else ABSENT, interval, detectable(cell.mde)])


def _reason(verdict: EntryVerdict, cell: CellVerdict) -> list[str]:
    said = f"{verdict_word(cell.verdict, cell.reason)} on {verdict.entry}: {plain(cell.key)}"
    return [said, *(f"  - {plain(sentence)}" for sentence in cell.evidence[:5])]
