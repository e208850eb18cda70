"""The course of the run: clock, power and temperature, round by round."""

from typing import Any

from solwatch.render.charts.figure import Figure
from solwatch.render.charts.theme import Palette, chart
from solwatch.render.course import Moment
from solwatch.render.units import ABSENT, scaled

_WIDTH, _HEIGHT = 640, 90
_PANELS = (("clock", "SM clock, MHz", 1e-6), ("power", "power, W", 1.0), ("temperature", "temperature, °C", 1.0))


def course(moments: list[Moment], palette: Palette) -> Figure | None:
    """Return the figure; ``None`` where the device says nothing of itself."""
    values = [value for moment in moments for value in _values(moment)]
    if not values:
        return None
    shown = {value["what"] for value in values}
    panels = [_panel(title, palette) for what, title, _ in _PANELS if what in shown]
    for panel, (what, _, _) in zip(panels, [each for each in _PANELS if each[0] in shown], strict=True):
        panel["transform"] = [{"filter": f"datum.what === '{what}'"}]
    return Figure(
        anchor="course",
        title="Clock, power and temperature over the run",
        label=f"clock, power and temperature of both sides over {len({moment.ordinal for moment in moments})} rounds",
        caption="Clock: mean of a side's blocks in a round. Power and temperature: the highest reading in it. "
        "Both sides should lie on each other: where they don't, the device treated them differently.",
        spec=chart(palette, data={"values": values}, spacing=14, vconcat=panels),
        titles=["round", "side", "clock", "power", "temperature", "held back by"],
        rows=[
            [
                str(moment.ordinal) if moment.gpu is None else f"{moment.ordinal} (cuda:{moment.gpu})",
                moment.side,
                scaled(moment.clock_hz, "Hz"),
                scaled(moment.power_w, "W", 3),
                f"{moment.temperature_c:.0f} °C" if moment.temperature_c is not None else ABSENT,
                moment.throttled or "nothing",
            ]
            for moment in moments
        ],
    )


def _values(moment: Moment) -> list[dict[str, Any]]:
    figures = (moment.clock_hz, moment.power_w, moment.temperature_c)
    return [
        {
            "what": what,
            "round": moment.ordinal,
            "side": moment.side,
            "value": round(figure * factor, 2),
            "tip": f"round {moment.ordinal}, {moment.side}: {figure * factor:.0f} {title.rpartition(', ')[2]}",
        }
        for (what, title, factor), figure in zip(_PANELS, figures, strict=True)
        if figure is not None
    ]


def _panel(title: str, palette: Palette) -> dict[str, Any]:
    sides = {"domain": ["head", "base"], "range": [palette.faster, palette.base]}
    legend = {"title": None, "orient": "top"}
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "mark": {"type": "line", "point": {"size": 36, "filled": True, "aria": True}, "strokeWidth": 1.5},
        "encoding": {
            "x": {
                "field": "round",
                "type": "quantitative",
                "title": None,
                "axis": {"tickMinStep": 1, "format": "d"},
                "scale": {"zero": False},
            },
            "y": {
                "field": "value",
                "type": "quantitative",
                "title": title,
                "scale": {"zero": False},
                "axis": {"tickCount": 4},
            },
            "color": {"field": "side", "type": "nominal", "scale": sides, "legend": legend},
            "strokeDash": {
                "field": "side",
                "type": "nominal",
                "scale": {"domain": ["head", "base"], "range": [[1, 0], [5, 3]]},
                "legend": legend,
            },
            "description": {"field": "tip", "type": "nominal"},
        },
    }
