"""A judgement as one self-contained HTML page: style, script, pictures and data inside, nothing loaded."""

import base64
import functools
import hashlib
import math
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from solwatch.judge.judgement import Judgement
from solwatch.model.record import Record
from solwatch.model.verdict import FAILING
from solwatch.render.charts.drawing import begin, inlined
from solwatch.render.charts.figures import report_figures
from solwatch.render.charts.forest import forest_reach
from solwatch.render.charts.theme import DARK, LIGHT, NAMED, VERDICT_COLOURS, variables
from solwatch.render.headline import SEVERITY
from solwatch.render.json import render_json
from solwatch.render.view import CellRow, report_view

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = "report.html.j2"
SCRIPT = "report.js"


_PLACE = "\0"
"""Stands around a chart's name where the chart will be. No text of a page has it: ``plain`` takes it out."""


_EDGE = 0.95
"""Of half a strip: a mark at its end is still whole."""


class Strip(NamedTuple):
    """Where a cell's change lies on the scale that all cells share, in per cent of its width."""

    low: float
    high: float
    at: float
    margin: float
    effect: float


def render_html(record: Record, judgement: Judgement) -> str:
    """Return the page. Everything from outside is escaped: commit subjects, cell names, messages."""
    return begin_html(record, judgement)()


def begin_html(record: Record, judgement: Judgement) -> Callable[[], str]:
    """Begin to draw the page's charts; return what waits for them and gives the page."""
    view = report_view(record, judgement)
    rows = [*view.rows, *view.peers]
    figures = report_figures(view, record.header.ceilings, NAMED)
    drawn = begin("svg", figures)

    def page() -> str:
        template, script = _environment().get_template(TEMPLATE), _script()
        written = template.render(
            view=view,
            figures=[figure for figure in figures if figure.anchor != "course"],
            course=next((figure for figure in figures if figure.anchor == "course"), None),
            strips=_strips(rows),
            severity={verdict: place for place, verdict in enumerate(SEVERITY)},
            tones=VERDICT_COLOURS,
            failing=FAILING,
            verdicts=list(dict.fromkeys(row.verdict_text for row in rows)),
            layers=sorted({row.layer for row in rows}),
            has_scores=any(row.facts.head.score is not None for row in rows),
            light=Markup(variables(LIGHT)),
            dark=Markup(variables(DARK)),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            report_json=base64.b64encode(render_json(record, judgement)).decode(),
            drawn={figure.anchor: Markup(_PLACE + figure.anchor + _PLACE) for figure in figures},
        )
        # The page is written while its charts are drawn, and they are put into it afterwards.
        charts = {figure.anchor: inlined(svg, figure.label) for figure, svg in drawn()}
        parts = written.split(_PLACE)
        return "".join(charts[part] if at % 2 else part for at, part in enumerate(parts))

    return page


def _strips(rows: list[CellRow]) -> dict[str, Strip]:
    reach = forest_reach(rows)

    def place(fraction: float) -> float:
        return round(50 + 50 * max(-_EDGE, min(_EDGE, fraction / reach)), 1)

    strips = {}
    for row in rows:
        if row.ratio is not None and math.isfinite(row.ratio):
            ends = [
                end if end is not None and math.isfinite(end) else row.ratio for end in (row.ratio_low, row.ratio_high)
            ]
            strips[row.anchor] = Strip(
                low=place(ends[0] - 1),
                high=place(ends[1] - 1),
                at=place(row.ratio - 1),
                margin=place(row.margin) - 50,
                effect=place(row.min_effect) - 50,
            )
    return strips


@functools.cache
def _script() -> str:
    return resources.files("solwatch.render").joinpath("templates").joinpath(SCRIPT).read_text(encoding="utf-8")


@functools.cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # while charts are drawn

    return Environment(
        loader=PackageLoader("solwatch.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
