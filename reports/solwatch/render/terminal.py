"""A judgement as text: the verdict first, the table second, advice last."""

import io
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from solwatch.judge.judgement import Judgement
from solwatch.model.record import Record
from solwatch.model.verdict import Verdict
from solwatch.render.headline import verdict_word
from solwatch.render.units import ABSENT
from solwatch.render.view import CellRow, ReportView, report_view

STYLES = {
    Verdict.SLOWER: "bold red",
    Verdict.BROKEN: "bold red",
    Verdict.BELOW_FLOOR: "bold red",
    Verdict.VOID: "magenta",
    Verdict.UNDECIDED: "yellow",
    Verdict.ACCEPTED: "blue",
    Verdict.NEW: "cyan",
    Verdict.FASTER: "green",
    Verdict.UNCHANGED: "default",
}
_STATE_STYLES = {"fail": "bold red", "pass": "bold green", "untrusted": "bold magenta"}
_EXPLAINED = frozenset(Verdict) - {Verdict.FASTER, Verdict.UNCHANGED, Verdict.NEW}
"""Verdicts whose evidence is printed under the table."""

MIN_WIDTH = 20
TABLE_WIDTH = 60
"""Where less is to be had, cells are stacked: a table would show half of their names."""

MOST_EXPLAINED = 12


class _Column(NamedTuple):
    """``rank``: columns of a higher rank give way first on a narrow terminal."""

    title: str
    read: Callable[[CellRow], str]
    rank: int
    compared_only: bool = False


_COLUMNS = [
    _Column("head/base", lambda row: row.change, 0, compared_only=True),
    _Column("95 % interval", lambda row: row.interval, 4, compared_only=True),
    _Column("MDE", lambda row: row.mde, 3, compared_only=True),
    _Column("base", lambda row: row.base_time, 5, compared_only=True),
    _Column("head", lambda row: row.head_time, 1),
    _Column("SOL", lambda row: row.score, 2),
    _Column("MFU", lambda row: row.mfu, 6),
    _Column("MBU", lambda row: row.mbu, 7),
    _Column("energy", lambda row: row.energy, 8),
    _Column("labels", lambda row: ", ".join(row.labels), 2, compared_only=True),
]
_GAP = 3
"""Characters between two columns of the table."""


def render_terminal(record: Record, judgement: Judgement, *, width: int = 120, colour: bool = False) -> str:
    """Return the report as text at most ``width`` characters wide; escape sequences only with ``colour``."""
    view = report_view(record, judgement)
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=max(width, MIN_WIDTH),
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    _verdict(console, view)
    _table(console, view, max(width, MIN_WIDTH))
    _unscored(console, view)
    _explanations(console, view)
    _advice(console, view)
    # Tables pad every line to their width; trailing blanks only get in the way of copying.
    return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip().split("\n"))


def _verdict(console: Console, view: ReportView) -> None:
    top = view.headline
    line = Text(top.title, style=_STATE_STYLES.get(top.state, "bold"))
    line.append(f"  {top.text}", style="default")
    console.print(line)
    if top.why:
        console.print(Text(f"why: {top.why}"))
    counts = ", ".join(f"{count} {verdict_word(Verdict(verdict))}" for verdict, count in top.counts)
    console.print(Text(top.coverage + (f": {counts}" if counts and not view.alone else "")))
    if top.unmeasured:
        console.print(Text(top.unmeasured))
    console.print(Text(view.summary, style="dim"))


def _table(console: Console, view: ReportView, width: int) -> None:
    rows = [*view.rows, *view.peers]
    if not rows:
        return
    if width < TABLE_WIDTH:
        _stack(console, view, rows)
        return
    columns = _fitting(view, rows, width)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("cell", overflow="fold")
    if not view.plainly_measured:
        table.add_column("verdict", no_wrap=True)
    for column in columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    for row in rows:
        if view.peers and row is view.peers[0]:
            table.add_section()
        verdict = [] if view.plainly_measured else [Text(_said(row), style=STYLES[row.verdict_key])]
        table.add_row(Text(row.key), *verdict, *(Text(column.read(row)) for column in columns))
    console.print(table)


def _stack(console: Console, view: ReportView, rows: Sequence[CellRow]) -> None:
    """Print each cell in lines of its own: its name, then its verdict and figures."""
    console.print()
    for row in rows:
        console.print(Text(row.key, style="bold"))
        if not view.plainly_measured:
            said = f"{_said(row)} {row.change if row.change != ABSENT else ''}"
            console.print(Padding(Text(said, style=STYLES[row.verdict_key]), (0, 0, 0, 2)))
        figures = [("head", row.head_time), ("SOL", row.score)]
        shown = "  ".join(f"{title} {text}" for title, text in figures if text != ABSENT)
        if shown:
            console.print(Padding(Text(shown), (0, 0, 0, 2)))
    console.print()


def _unscored(console: Console, view: ReportView) -> None:
    for line in view.unscored:
        console.print(Text(line))
    if view.unscored:
        console.print()


def _fitting(view: ReportView, rows: Sequence[CellRow], width: int) -> list[_Column]:
    """Return the columns that have something to say and fit beside whole cell names, most wanted first kept."""
    used = min(max(len(row.key) for row in rows), width // 2) + 2
    if not view.plainly_measured:
        used += max(len(_said(row)) for row in rows) + _GAP
    kept = set()
    for column in sorted(_COLUMNS, key=lambda column: column.rank):
        texts = [column.read(row) for row in rows]
        if (view.alone and column.compared_only) or all(text in ("", ABSENT) for text in texts):
            continue
        used += max(len(column.title), *(len(text) for text in texts)) + _GAP
        if used > width:
            break
        kept.add(column.title)
    return [column for column in _COLUMNS if column.title in kept]


def _said(row: CellRow) -> str:
    return row.verdict_text + ("" if row.facts.thresholds.gated else " (peer)")


def _explanations(console: Console, view: ReportView) -> None:
    explained = [row for row in view.rows if row.verdict_key in _EXPLAINED]
    for row in explained[:MOST_EXPLAINED]:
        line = Text(f"{row.key}: ", style="bold")
        line.append(f"{row.verdict_text} ({'; '.join([row.reason, *row.labels])})", style=STYLES[row.verdict_key])
        console.print(line)
        # What an undecided cell could have seen stands in the table already.
        for sentence in row.evidence[: 1 if row.verdict_key is Verdict.UNDECIDED else None]:
            console.print(Padding(Text(sentence), (0, 0, 0, 2)))
    if len(explained) > MOST_EXPLAINED:
        console.print(Text(f"and {len(explained) - MOST_EXPLAINED} more; the report has the details of all"))
    for note in view.notes:
        console.print(Text(f"note: {note}"))


def _advice(console: Console, view: ReportView) -> None:
    if view.headline.advice:
        console.print()
    for sentence in view.headline.advice:
        console.print(Text(f"→ {sentence}"))
