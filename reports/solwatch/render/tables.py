"""A table as plain text: its first column left, figures right."""

import io
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

MIN_WIDTH = 20


def text_table(titles: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, width: int = 120) -> str:
    """Return the table in lines of at most ``width`` characters; the first ``left`` columns hold words."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for number, title in enumerate(titles):
        table.add_column(title, justify="left" if number < left else "right", overflow="fold", no_wrap=number > 0)
    for row in rows:
        table.add_row(*map(Text, row))
    buffer = io.StringIO()
    Console(file=buffer, width=max(width, MIN_WIDTH), highlight=False, emoji=False, markup=False).print(table)
    # Tables pad every line to their width, and the box has a blank line on top; neither is wanted.
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()).strip("\n")
