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
from solwatch.render.view import CellRow, ReportView, report_view

STYLES = {
    Verdict.SLOWER: "bold red",
    Verdict.BROKEN: "bold red",
    Verdict.BELOW_FLOOR: "bold red",
    Verdict.VOID: "magenta",
    Verdict.UNDECIDED: "yellow",
    Verdict.NEW: "cyan",
    Verdict.FASTER: "green",
    Verdict.UNCHANGED: "default",
}
_STATE_STYLES = {"fail": "bold red", "pass": "bold green", "untrusted": "bold magenta"}
_EXPLAINED = frozenset(Verdict) - {Verdict.FASTER, Verdict.UNCHANGED, Verdict.NEW}
"""Verdicts whose evidence is printed under the table."""

MIN_WIDTH = 60
MOST_EXPLAINED = 12


class _Column(NamedTuple):
    """``width``: the narrowest terminal, in characters, that shows it."""

    title: str
    read: Callable[[CellRow], str]
    width: int
    compared_only: bool = False


_COLUMNS = [
    _Column("head/base", lambda row: row.change, 0, compared_only=True),
    _Column("95 % interval", lambda row: row.interval, 100, compared_only=True),
    _Column("base", lambda row: row.base_time, 110, compared_only=True),
    _Column("head", lambda row: row.head_time, 70),
    _Column("SOL", lambda row: row.score, 80),
    _Column("MFU", lambda row: row.mfu, 118),
    _Column("MBU", lambda row: row.mbu, 118),
    _Column("energy", lambda row: row.energy, 128),
    _Column("MDE", lambda row: row.mde, 90, compared_only=True),
]


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
    _explanations(console, view)
    _advice(console, view)
    # Tables pad every line to their width; trailing blanks only get in the way of copying.
    return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip().split("\n"))


def _verdict(console: Console, view: ReportView) -> None:
    line = Text(view.headline.title, style=_STATE_STYLES.get(view.headline.state, "bold"))
    line.append(f"  {view.headline.text}", style="default")
    console.print(line)
    console.print(Text(view.summary, style="dim"))


def _table(console: Console, view: ReportView, width: int) -> None:
    columns = [
        column
        for column in _COLUMNS
        if width >= column.width
        and not (view.alone and column.compared_only)
        and any(column.read(row) not in ("–", "") for row in [*view.rows, *view.peers])
    ]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("cell", overflow="fold", ratio=None)
    table.add_column("verdict", no_wrap=True)
    for column in columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    for row in view.rows:
        _add(table, row, columns)
    if view.peers:
        table.add_section()
        for row in view.peers:
            _add(table, row, columns, suffix=" (peer)")
    if table.row_count:
        console.print(table)


def _add(table: Table, row: CellRow, columns: Sequence[_Column], suffix: str = "") -> None:
    verdict = Text(row.verdict_text + suffix, style=STYLES[row.verdict_key])
    table.add_row(Text(row.key), verdict, *(Text(column.read(row)) for column in columns))


def _explanations(console: Console, view: ReportView) -> None:
    explained = [row for row in view.rows if row.verdict_key in _EXPLAINED]
    for row in explained[:MOST_EXPLAINED]:
        line = Text(f"{row.key}: ", style="bold")
        line.append(f"{row.verdict_text} ({row.reason})", style=STYLES[row.verdict_key])
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
