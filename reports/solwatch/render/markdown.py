"""Markdown for GitHub: text from outside stands in code, where nothing in it is markup, a link or a mention."""

import re
from collections.abc import Iterable, Sequence

from solwatch.model.plain import plain
from solwatch.render.units import ABSENT

CUT_BYTES = 200
"""Kept free for a line that says what was cut, and for fences."""

_WHY = "Why"
_BACKTICKS = re.compile("`+")
_FIGURE = re.compile(r"(?:[+−]?\d[\d.,]*(?: ?(?:%|×|[fpnµmkMGTP]?[sBJ]))?|[–…>]| )+")
"""Figures in solwatch's own units: asv's units are text from outside."""


def code(text: str, limit: int = 200) -> str:
    """Return ``text`` as a code span of one line: no markup, HTML, mention, issue number or link works in there."""
    shown = plain(text, limit)
    if not shown:
        return ABSENT
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def figure(text: str) -> str:
    """Return a figure as it is, and in code when anything else stands beside it."""
    return text if _FIGURE.fullmatch(text) else code(text)


def block(lines: Iterable[str], limit: int = 500) -> list[str]:
    """Return ``lines`` as a fenced block, whatever fences stand in them; their indentation is kept.

    ``limit``: of characters in one line.
    """
    shown = [line[: len(line) - len(line.lstrip(" "))] + plain(line, limit) for line in lines]
    fence = "`" * max(3, _longest_run("\n".join(shown)) + 1)
    return [f"{fence}text", *shown, fence]


def table_row(cells: Sequence[str]) -> str:
    """Return one row of a table; a pipe in a cell, also in code, is text."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def table_head(titles: Sequence[str], *, right: int = 0) -> list[str]:
    """Return the first two lines of a table, its last ``right`` columns aligned to the right."""
    marks = ["---"] * (len(titles) - right) + ["---:"] * right
    return [table_row(titles), table_row(marks)]


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Return ``lines`` under a ``title`` (solwatch's own words) that a reader opens."""
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]


def reasons(said: Sequence[Sequence[str]], room_bytes: int) -> list[str]:
    """Return the lines of each cell under a fold, whole cells only, as many as fit; the others are counted."""
    kept: list[str] = []
    room_bytes -= size_bytes(folded(_WHY, block([]))) + CUT_BYTES
    for left, lines in zip(range(len(said), 0, -1), said, strict=True):
        room_bytes -= size_bytes(lines)
        if room_bytes < 0:
            kept.append(f"and the reasons of {cells(left)} more; the report has all")
            break
        kept += lines
    return folded(_WHY, block(kept)) if kept else []


def cells(count: int) -> str:
    """Return ``1 cell`` or ``2 cells``."""
    return f"{count} cell{'s' if count != 1 else ''}"


def size_bytes(lines: Iterable[str]) -> int:
    """Return what ``lines`` take, their line breaks included."""
    return sum(len(line.encode()) + 1 for line in lines)


def fitting(lines: Sequence[str], room_bytes: int) -> list[str]:
    """Return the first of ``lines`` that fit into ``room_bytes``."""
    kept = []
    for line in lines:
        room_bytes -= size_bytes([line])
        if room_bytes < 0:
            break
        kept.append(line)
    return kept


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)
