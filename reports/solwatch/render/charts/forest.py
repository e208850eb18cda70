"""A forest strip: one cell's slowdown ratio with its interval, margin and min effect, on a scale all cells share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from solwatch.render.charts.svg import element, picture, title
from solwatch.render.units import change
from solwatch.render.view import CellRow

WIDTH, HEIGHT = 176.0, 22.0
_INSET = 8.0


@dataclass(frozen=True)
class ForestScale:
    """``reach``: the log ratio at either end of the strip; what is beyond gets an arrow."""

    reach: float

    @classmethod
    def of(cls, rows: Sequence[CellRow]) -> "ForestScale":
        """Return a scale that shows every min effect and most intervals, so that one outlier squashes nothing."""
        wanted = [1.6 * math.log1p(row.min_effect) for row in rows]
        # The ends of the intervals, without the widest tenth.
        ends = sorted(
            max(abs(math.log(end)) for end in (row.ratio_low, row.ratio_high, row.ratio) if end)
            for row in rows
            if row.ratio
        )
        if ends:
            wanted.append(min(1.1 * ends[(len(ends) * 9) // 10 if len(ends) > 10 else -1], 6 * max(wanted)))
        return cls(max(wanted, default=0.01))

    def x(self, log_ratio: float) -> float:
        """Return where a log ratio lies, cut at the ends."""
        share = max(-1.0, min(1.0, log_ratio / self.reach))
        return WIDTH / 2 + share * (WIDTH / 2 - _INSET)


def forest_strip(row: CellRow, scale: ForestScale) -> Markup:
    """Return the strip of ``row``; empty markup when the cell was not compared."""
    if row.ratio is None or row.ratio <= 0:
        return Markup()
    middle = HEIGHT / 2
    point = math.log(row.ratio)
    low = math.log(row.ratio_low) if row.ratio_low else point
    high = math.log(row.ratio_high) if row.ratio_high and math.isfinite(row.ratio_high) else point
    tone = f"v-{row.verdict}"
    parts = [*_thresholds(row, scale)]
    if max(abs(low), abs(high)) > 0:
        parts.append(element("line", x1=scale.x(low), x2=scale.x(high), y1=middle, y2=middle, class_=f"ci {tone}"))
    parts += [_arrow(end, middle, tone) for end in _beyond(low, high, point, scale)]
    parts.append(
        element(
            "circle", title(f"{row.change} ({row.interval})"), cx=scale.x(point), cy=middle, r=4.0, class_=f"pt {tone}"
        )
    )
    return picture(WIDTH, HEIGHT, f"{row.key}: head / base {row.change}, interval {row.interval}", parts, "forest")


def forest_axis(scale: ForestScale) -> Markup:
    """Return the axis that stands over the strips."""
    parts = []
    for share, anchor in ((-1.0, "start"), (0.0, "middle"), (1.0, "end")):
        text = "0" if share == 0 else change(math.exp(share * scale.reach))
        x = scale.x(share * scale.reach)
        parts.append(element("text", text, x={"start": 0.0, "end": WIDTH}.get(anchor, x), y=12.0, text_anchor=anchor))
    return picture(WIDTH, 16.0, "scale of the slowdown ratio", parts, "forest axis")


def _thresholds(row: CellRow, scale: ForestScale) -> list[Markup]:
    margin, effect = math.log1p(row.margin), math.log1p(row.min_effect)
    parts = [
        element(
            "rect",
            x=scale.x(-margin),
            y=2.0,
            width=scale.x(margin) - scale.x(-margin),
            height=HEIGHT - 4,
            class_="margin",
        ),
        element("line", x1=scale.x(0), x2=scale.x(0), y1=2.0, y2=HEIGHT - 2, class_="zero"),
    ]
    return parts + [
        element("line", x1=scale.x(at), x2=scale.x(at), y1=2.0, y2=HEIGHT - 2, class_="effect")
        for at in (-effect, effect)
    ]


def _beyond(low: float, high: float, point: float, scale: ForestScale) -> list[float]:
    found = []
    if min(low, point) < -scale.reach:
        found.append(-1.0)
    if max(high, point) > scale.reach:
        found.append(1.0)
    return found


def _arrow(direction: float, middle: float, tone: str) -> Markup:
    tip = WIDTH / 2 + direction * (WIDTH / 2 - 1)
    back = tip - direction * 6
    path = f"M{tip:.0f} {middle:.0f}L{back:.0f} {middle - 4:.0f}L{back:.0f} {middle + 4:.0f}Z"
    return element("path", d=path, class_=f"pt {tone}")
