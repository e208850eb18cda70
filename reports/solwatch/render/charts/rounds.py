"""The rounds of one cell in order: head / base of each, and of the kernel that does nothing."""

import math
from collections.abc import Callable

from markupsafe import Markup

from solwatch.judge.series import RoundFacts
from solwatch.model.plain import plain
from solwatch.render.charts.svg import element, picture, title
from solwatch.render.units import change
from solwatch.render.view import CellRow

Place = Callable[[float], float]
Column = Callable[[int], float]

WIDTH, HEIGHT = 520.0, 190.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 80.0, 10.0, 12.0, 26.0


def rounds_chart(row: CellRow) -> Markup:
    """Return the chart; empty markup when no round has a ratio.

    A filled circle is a round in which the coin gave head the first slot, an open one the second; a small cross
    is what the do-nothing kernel differed by, as a share of the cell's time; a mark on the lower edge is a round
    that was dropped.
    """
    rounds = row.facts.rounds
    ratios = [fact.log_ratio for fact in rounds if fact.log_ratio is not None]
    if not ratios or row.ratio is None:
        return Markup()
    reach = max(1.25 * math.log1p(row.min_effect), 1.12 * max(abs(value) for value in ratios))
    count = max(fact.ordinal for fact in rounds)

    def x(ordinal: int) -> float:
        return _LEFT + (ordinal - 0.5) * (WIDTH - _LEFT - _RIGHT) / count

    def y(log_ratio: float) -> float:
        share = max(-1.0, min(1.0, log_ratio / reach))
        return _TOP + (1 - share) / 2 * (HEIGHT - _TOP - _BOTTOM)

    parts = [*_bands(row, y), *_axes(row, x, y, count, reach)]
    for fact in rounds:
        parts += _marks(fact, row, x(fact.ordinal), y)
    return picture(WIDTH, HEIGHT, f"{row.key}: head / base in each of {count} rounds", parts, "rounds")


def _bands(row: CellRow, y: Place) -> list[Markup]:
    margin, effect = math.log1p(row.margin), math.log1p(row.min_effect)
    right = WIDTH - _RIGHT
    parts = [
        element("rect", x=_LEFT, width=right - _LEFT, y=y(margin), height=y(-margin) - y(margin), class_="margin"),
        element("line", x1=_LEFT, x2=right, y1=y(0), y2=y(0), class_="zero"),
    ]
    parts += [element("line", x1=_LEFT, x2=right, y1=y(at), y2=y(at), class_="effect") for at in (-effect, effect)]
    if row.ratio_low and row.ratio_high and math.isfinite(row.ratio_high):
        top, bottom = y(math.log(row.ratio_high)), y(math.log(row.ratio_low))
        parts.append(
            element(
                "rect",
                x=_LEFT,
                width=right - _LEFT,
                y=top,
                height=max(1.0, bottom - top),
                class_=f"band v-{row.verdict}",
            )
        )
    return parts


def _axes(row: CellRow, x: Column, y: Place, count: int, reach: float) -> list[Markup]:
    effect = math.log1p(row.min_effect)
    ticks = {0.0: "0", effect: f"δ1 {change(math.exp(effect))}", -effect: change(math.exp(-effect))}
    if reach > 2.2 * effect:
        ticks |= {0.94 * reach: change(math.exp(0.94 * reach)), -0.94 * reach: change(math.exp(-0.94 * reach))}
        if reach > 12 * effect:
            del ticks[effect], ticks[-effect]
    parts = [element("text", text, x=_LEFT - 6, y=y(at) + 3.5, text_anchor="end") for at, text in ticks.items()]
    step = max(1, math.ceil(count / 12))
    for ordinal in range(1, count + 1, step):
        parts.append(element("text", str(ordinal), x=x(ordinal), y=HEIGHT - 8, text_anchor="middle"))
    return parts


def _marks(fact: RoundFacts, row: CellRow, x: float, y: Place) -> list[Markup]:
    parts = []
    # Launching adds to a cell's time, so its difference is shown as a share of that time, on the same scale.
    if fact.head_null_s and fact.base_null_s and fact.base_s and row.facts.unit == "seconds":
        share = (fact.head_null_s - fact.base_null_s) / fact.base_s
        at = y(math.log1p(max(share, -0.9)))
        parts.append(element("path", d=f"M{x - 3:.1f} {at - 3:.1f}l6 6m0 -6l-6 6", class_="null"))
    if fact.log_ratio is not None:
        slot = "first" if fact.head_slot == 0 else "second"
        said = title(f"round {fact.ordinal}: {change(math.exp(fact.log_ratio))}, head in the {slot} slot")
        hollow = "" if fact.head_slot == 0 else " hollow"
        parts.append(element("circle", said, cx=x, cy=y(fact.log_ratio), r=4.0, class_=f"pt v-{row.verdict}{hollow}"))
    elif fact.dropped:
        edge = HEIGHT - _BOTTOM - 4
        said = title(f"round {fact.ordinal} not used: {plain(fact.dropped, 200)}")
        parts.append(element("path", said, d=f"M{x - 4:.1f} {edge - 4:.1f}l8 8m0 -8l-8 8", class_="dropped"))
    return parts
