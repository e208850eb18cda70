"""A judgement as Markdown for a job's summary: verdict first, table second, reasons folded, advice last."""

from solwatch.judge.judgement import Judgement
from solwatch.model.record import Record
from solwatch.model.verdict import Verdict
from solwatch.render.headline import verdict_word
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
from solwatch.render.view import CellRow, ReportView, report_view, worst_first

SUMMARY_BYTES = 1 << 20
"""What GitHub shows of one step's summary; beyond it shows nothing, and the job stays green."""

EXPLAINED = frozenset(Verdict) - {Verdict.FASTER, Verdict.UNCHANGED, Verdict.NEW}
"""Verdicts whose evidence is given."""

MOST_NOTES = 20
_TITLES = ["cell", "verdict", "head/base", "95 % interval", "MDE", "base", "head", "SOL"]
_RIGHT = 6


def render_summary(record: Record, judgement: Judgement, *, most_bytes: int = SUMMARY_BYTES) -> str:
    """Return the summary, at most ``most_bytes`` of UTF-8 where the verdict itself fits; what is cut is counted."""
    view = report_view(record, judgement)
    opening, closing = _opening(view), _closing(view)
    room = most_bytes - size_bytes([*opening, *closing])
    table = _table([*worst_first(view.rows), *view.peers], room)
    said = [_reason(row) for row in worst_first(view.rows) if row.verdict_key in EXPLAINED]
    return "\n".join([*opening, *table, *reasons(said, room - size_bytes(table)), *closing]) + "\n"


def _opening(view: ReportView) -> list[str]:
    top = view.headline
    counts = ", ".join(f"{count} {verdict_word(Verdict(verdict))}" for verdict, count in top.counts)
    said = top.coverage + (f": {counts}" if counts and not view.alone else "")
    lines = [f"### {top.title}", "", code(top.text, 400), ""]
    lines += [f"why: {code(top.why, 400)}", ""] if top.why else []
    lines += [said, ""]
    if top.unmeasured:
        lines += [top.unmeasured, ""]
    return [*lines, code(view.summary, 400), ""]


def _closing(view: ReportView) -> list[str]:
    notes = [f"- {code(note, 300)}" for note in [*view.unscored, *view.notes]]
    left = len(notes) - MOST_NOTES
    if left > 0:
        notes = [*notes[:MOST_NOTES], f"- and {left} more notes; the report has all"]
    advice = [f"- {sentence}" for sentence in view.headline.advice]
    return [*notes, *([""] if notes else []), *advice]


def _table(rows: list[CellRow], room_bytes: int) -> list[str]:
    if not rows:
        return []
    head = table_head(_TITLES, right=_RIGHT)
    lines = fitting([_row(row) for row in rows], room_bytes - size_bytes(head) - CUT_BYTES)
    left = len(rows) - len(lines)
    return [*head, *lines, "", *([f"and {cells(left)} more; the report has all", ""] if left else [])]


def _row(row: CellRow) -> str:
    said = row.verdict_text + ("" if row.facts.thresholds.gated else " (peer)")
    if row.labels:
        said += f" ({', '.join(row.labels)})"
    figures = [row.change, row.interval, row.mde, row.base_time, row.head_time, row.score]
    return table_row([code(row.key), said, *map(figure, figures)])


def _reason(row: CellRow) -> list[str]:
    return [f"{row.verdict_text}: {row.key} ({row.reason})", *(f"  - {sentence}" for sentence in row.evidence)]
