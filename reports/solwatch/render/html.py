"""A judgement as one self-contained HTML page: inline style and SVG, no script, nothing loaded from anywhere."""

import functools

from jinja2 import Environment, PackageLoader, StrictUndefined

from solwatch.judge.judgement import Judgement
from solwatch.model.record import Record
from solwatch.model.verdict import FAILING
from solwatch.render.charts.forest import ForestScale, forest_axis, forest_strip
from solwatch.render.charts.roofline import roofline
from solwatch.render.charts.rounds import rounds_chart
from solwatch.render.view import report_view

TEMPLATE = "report.html.j2"


def render_html(record: Record, judgement: Judgement) -> str:
    """Return the page. Everything from outside is escaped: commit subjects, cell names, messages."""
    view = report_view(record, judgement)
    rows = [*view.rows, *view.peers]
    scale = ForestScale.of(rows)
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            view=view,
            axis=forest_axis(scale),
            strips={row.anchor: forest_strip(row, scale) for row in rows},
            charts={row.anchor: rounds_chart(row) for row in rows},
            roofline=roofline(rows, record.header.ceilings),
            rated=record.header.ceilings.rated_bandwidth is not None,
            failing=FAILING,
            has_energy=any(row.facts.head.energy_j is not None for row in rows),
            has_scores=any(row.facts.head.score is not None for row in rows),
        )
    )


@functools.cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("solwatch.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
