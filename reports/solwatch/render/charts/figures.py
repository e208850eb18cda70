"""The figures of a report, in the order in which the page shows them."""

from solwatch.model.record import Ceilings
from solwatch.render.charts.course import course
from solwatch.render.charts.figure import Figure
from solwatch.render.charts.forest import forest
from solwatch.render.charts.heat import heat
from solwatch.render.charts.roofline import roofline
from solwatch.render.charts.theme import Palette
from solwatch.render.view import ReportView


def report_figures(view: ReportView, ceilings: Ceilings, palette: Palette) -> list[Figure]:
    """Return the figures that the report has something for."""
    rows = [*view.rows, *view.peers]
    drawn = [
        forest(rows, palette),
        roofline(rows, ceilings, palette),
        heat(view.rows, palette),
        course(view.course, palette),
    ]
    return [figure for figure in drawn if figure is not None]
