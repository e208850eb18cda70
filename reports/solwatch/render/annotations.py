"""Annotations: workflow commands of GitHub Actions."""

from solwatch.judge.judgement import Judgement
from solwatch.model.plain import plain
from solwatch.model.record import Record
from solwatch.model.verdict import FAILING, Verdict
from solwatch.render.setting import model_text
from solwatch.render.view import CellRow, report_view, worst_first

MOST = 10
"""GitHub shows ten annotations of a level for a step and drops the others."""

_LEVELS = {Verdict.VOID: "warning", Verdict.UNDECIDED: "notice"} | dict.fromkeys(FAILING, "error")


def render_annotations(record: Record, judgement: Judgement) -> str:
    """Return at most ``MOST`` commands, worst cells first, a line each; empty where there is nothing to say."""
    rows = worst_first(row for row in report_view(record, judgement).rows if row.verdict_key in _LEVELS)
    where = model_text(record.header)
    shown = rows if len(rows) <= MOST else rows[: MOST - 1]
    lines = [annotation(_LEVELS[row.verdict_key], f"{row.verdict_text} on {where}", _message(row)) for row in shown]
    if left := rows[len(shown) :]:
        level = _LEVELS[left[0].verdict_key]
        lines.append(annotation(level, "more cells", f"and {len(left)} more; the report has all"))
    return "".join(f"{line}\n" for line in lines)


def annotation(level: str, title: str, message: str) -> str:
    """Return one command; ``level``: ``error``, ``warning`` or ``notice``."""
    shown = plain(f"solwatch: {title}", 200).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={shown}::{plain(message).replace('%', '%25')}"


def _message(row: CellRow) -> str:
    because = f": {row.evidence[0]}" if row.evidence else ""
    return f"{row.key}: {row.verdict_text} ({row.reason}){because}"
