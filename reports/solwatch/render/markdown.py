"""Markdown for GitHub: text from outside stands in code, where nothing in it is markup, a link or a mention."""

import re
from collections.abc import Sequence

from solwatch.model.plain import plain
from solwatch.render.units import ABSENT

_BACKTICKS = re.compile("`+")


def code(text: str, limit: int = 200) -> str:
    """Return ``text`` as a code span of one line: no markup, HTML, mention, issue number or link works in there."""
    shown = plain(text, limit)
    if not shown:
        return ABSENT
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(shown)), default=0) + 1)
    pad = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def table_row(cells: Sequence[str]) -> str:
    """Return one row of a table; a pipe in a cell, also in code, is text."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def table_head(titles: Sequence[str], *, right: int = 0) -> list[str]:
    """Return the first two lines of a table, its last ``right`` columns aligned to the right."""
    marks = ["---"] * (len(titles) - right) + ["---:"] * right
    return [table_row(titles), table_row(marks)]
