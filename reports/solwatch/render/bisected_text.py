"""A finished bisection on a terminal and as Markdown for an issue: answer first, tables second, advice last."""

import io
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from solwatch.model.bisection import Found
from solwatch.model.plain import plain
from solwatch.render.bisected import CELLS, GATES, bisected_view
from solwatch.render.markdown import code, table_head, table_row
from solwatch.render.terminal import MIN_WIDTH

_RIGHT = frozenset({"gate", "change", "rounds", "time", "bad/good", "against the commit before"})
_WHOLE = frozenset({"against", "verdict", "change", "rounds", "time", "bad/good"})


def render_bisected(found: Found, *, width: int = 120) -> str:
    """Return the answer as text at most ``width`` characters wide, its first line apart."""
    view = bisected_view(found, plain)
    buffer = io.StringIO()
    console = Console(
        file=buffer, width=max(width, MIN_WIDTH), highlight=False, emoji=False, markup=False, legacy_windows=False
    )
    if view.cells:
        console.print(_table(CELLS, view.cells))
    # A record is named by its time and the two commits, which stand in its row already.
    console.print(_table(GATES, [(*row[:-1], row[-1].partition("-")[0]) for row in view.gates]))
    for note in view.notes:
        console.print(Text(f"note: {note}"))
    for sentence in view.advice:
        console.print(Text(f"→ {sentence}"))
    lines = [line.rstrip() for line in buffer.getvalue().rstrip().split("\n")]
    return "\n".join([view.headline, *lines])


def render_markdown(found: Found) -> str:
    """Return the answer for an issue; commits' and cells' own words stand in code, where they are only text."""
    view = bisected_view(found, code)
    lines = [f"**{view.headline.partition(': ')[0]}**: {view.headline.partition(': ')[2]}", ""]
    if view.cells:
        lines += [*table_head(CELLS, right=2), *map(table_row, view.cells), ""]
    lines += [*table_head(GATES), *map(table_row, view.gates), ""]
    lines += [f"- {note}" for note in [*view.notes, *view.advice]]
    return "\n".join(lines).rstrip() + "\n"


def _table(titles: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for title in titles:
        table.add_column(
            title, justify="right" if title in _RIGHT else "left", no_wrap=title in _WHOLE, overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
