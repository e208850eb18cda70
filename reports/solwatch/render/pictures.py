"""Charts as PNG, for places that show no page: a README, a chat, a slide."""

from solwatch.judge.judgement import Judgement
from solwatch.model.record import Record
from solwatch.render.charts.drawing import begin
from solwatch.render.charts.forest import forest
from solwatch.render.charts.roofline import roofline
from solwatch.render.charts.theme import LIGHT
from solwatch.render.view import report_view


def render_pictures(record: Record, judgement: Judgement) -> dict[str, bytes]:
    """Return forest plot and roofline in light colours by their files' names, those that there is something for."""
    view = report_view(record, judgement)
    rows = [*view.rows, *view.peers]
    found = (forest(rows, LIGHT), roofline(rows, record.header.ceilings, LIGHT))
    figures = [figure for figure in found if figure is not None]
    return {f"{figure.anchor}.png": png for figure, png in begin("png", figures)()}
