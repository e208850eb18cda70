"""A figure of the page: a chart, what it shows in words, and its figures as a table."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """``anchor`` and ``title`` name it, ``label`` says what is seen, ``caption`` how to read it.

    ``spec``: in Vega-Lite. ``titles``, ``rows``: the same as text, the first column names the row.
    """

    anchor: str
    title: str
    label: str
    caption: str
    spec: dict[str, Any]
    titles: list[str]
    rows: list[list[str]] = field(default_factory=list)
