"""The forest plot: every cell's slowdown ratio with its interval and rounds, against margin and min effect."""

import math
from collections.abc import Sequence
from typing import Any

from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.model.plain import plain
from solwatch.render.charts.figure import Figure
from solwatch.render.charts.theme import Palette, chart, unique, verdict_marks
from solwatch.render.units import change, percentage
from solwatch.render.view import CellRow

_WIDTH, _STEP = 560, 20
_NAME_LENGTH, _LETTER = 46, 6.2
"""Names are cut there: Vega measures every letter of what it cuts itself. A letter's width in pixels, with room."""

_MOST_EFFECTS = 6.0
"""The scale ends there, in largest min effects: one outlier must not squash all the others."""

_OUTLIERS = 2
"""Where more cells lie beyond that, they are what the page is read for, and the scale reaches to them."""


def forest(rows: Sequence[CellRow], palette: Palette) -> Figure | None:
    """Return the figure of all compared cells in the order of ``rows``; ``None`` when no cell was compared."""
    compared = [row for row in rows if row.ratio is not None and math.isfinite(row.ratio) and row.ratio > 0]
    if not compared:
        return None
    reach = forest_reach(compared)
    names = unique(plain(row.key, _NAME_LENGTH) for row in compared)
    values = [_values(name, row, reach) for name, row in zip(names, compared, strict=True)]
    beyond = any(value["beyond"] for value in values)
    return Figure(
        anchor="forest",
        title="Slowdown of every cell",
        label=f"forest plot of {len(compared)} cells: head / base with its interval",
        caption=(
            "Right of 0 is slower. Mark and line: estimate and 95 % interval; ticks: single rounds; "
            "band: ± min effect (δ1), what must be caught; darker: margin (δ0), below which nothing is reported."
            + (" An arrow at the edge: beyond the scale." if beyond else "")
        ),
        spec=_spec(
            values,
            [tick for name, row in zip(names, compared, strict=True) for tick in _ticks(name, row, reach)],
            reach,
            compared,
            palette,
        ),
        titles=["cell", "verdict", "head / base", "95 % interval", "rounds", "± min effect", "± margin"],
        rows=[
            [
                row.key,
                row.verdict_text,
                row.change,
                row.interval,
                str(sum(fact.log_ratio is not None for fact in row.facts.rounds)),
                percentage(row.min_effect),
                percentage(row.margin),
            ]
            for row in compared
        ],
    )


def forest_reach(rows: Sequence[CellRow]) -> float:
    """Return the change, a fraction, at either end of a scale that shows every min effect and most intervals."""
    # The null kernel is timed to correct the others; it has a min effect of its own, far above theirs.
    effects = [1.5 * row.min_effect for row in rows if row.facts.key != NULL_KERNEL] or [0.01]
    known = [
        [end for end in (row.ratio, row.ratio_low, row.ratio_high) if end is not None and math.isfinite(end)]
        for row in rows
        if row.ratio is not None
    ]
    ends = sorted(max(abs(end - 1) for end in finite) for finite in known if finite)
    widest = ends[(len(ends) * 9) // 10 if len(ends) > 10 else -1] if ends else 0.0
    # With the largest estimates in any case: they are what the page is read for.
    points = [abs(row.ratio - 1) for row in rows if row.ratio is not None and math.isfinite(row.ratio)]
    wanted = max([widest, *points], default=0.0)
    most = _MOST_EFFECTS * max(effects)
    far = sorted(point for point in points if point > most)
    if len(far) > _OUTLIERS:
        most = 3 * far[(len(far) - 1) // 2]  # of these too the farthest must not squash all others
    return max(*effects, min(1.1 * wanted, most))


def _values(name: str, row: CellRow, reach: float) -> dict[str, Any]:
    assert row.ratio is not None, "asked of compared cells"
    low, high = (
        end if end is not None and math.isfinite(end) else row.ratio for end in (row.ratio_low, row.ratio_high)
    )
    at = row.ratio - 1
    return {
        "name": name,
        "verdict": row.verdict_text if row.verdict_text != "identical" else "unchanged",
        "at": _percent(at, reach),
        "low": _percent(low - 1, reach),
        "high": _percent(high - 1, reach),
        "effect": _percent(row.min_effect, reach),
        "margin": _percent(row.margin, reach),
        "beyond": abs(at) > reach,
        "tip": f"{row.key}: {row.change} ({row.interval}), {row.verdict_text}",
    }


def _ticks(name: str, row: CellRow, reach: float) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "round": _percent(math.exp(min(fact.log_ratio, 50.0)) - 1, reach),
            "tip": f"{row.key}, round {fact.ordinal}: {change(math.exp(min(fact.log_ratio, 50.0)))}",
        }
        for fact in row.facts.rounds
        if fact.log_ratio is not None
    ]


def _percent(fraction: float, reach: float) -> float:
    return round(100 * max(-reach, min(reach, fraction)), 4)


def _spec(
    values: list[dict[str, Any]],
    ticks: list[dict[str, Any]],
    reach: float,
    rows: Sequence[CellRow],
    palette: Palette,
) -> dict[str, Any]:
    y: dict[str, Any] = {
        "field": "name",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"ticks": False, "domain": False, "labelColor": palette.ink, "grid": True},
    }
    x: dict[str, Any] = {
        "type": "quantitative",
        "title": "head / base, change in %",
        "scale": {"domain": [-100 * reach, 100 * reach], "nice": False, "zero": False},
        "axis": {"labelExpr": "datum.value ? format(datum.value, '+~r') : '0'", "tickCount": 9},
    }
    tip = {"field": "tip", "type": "nominal"}

    def band(field: str, colour: str, opacity: float) -> dict[str, Any]:
        return {
            "transform": [{"calculate": f"-datum.{field}", "as": "left"}],
            "mark": {"type": "bar", "color": colour, "opacity": opacity, "height": {"band": 1}},
            "encoding": {"y": y, "x": {**x, "field": "left"}, "x2": {"field": field}},
        }

    def line(width: float) -> dict[str, Any]:
        marks = verdict_marks(palette, [row.verdict_key for row in rows])
        return {
            "mark": {"type": "rule", "strokeWidth": width},
            "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": marks["color"]},
        }

    longest = max(len(value["name"]) for value in values)
    return chart(
        palette,
        # Laid out here, for the same reason.
        autosize="none",
        padding={"left": round(longest * _LETTER) + 14, "right": 16, "top": 34, "bottom": 44},
        width=_WIDTH,
        height=_STEP * len(values),
        data={"values": values},
        layer=[
            band("effect", palette.band, 1.0),
            band("margin", palette.soft, 0.28),
            {"mark": {"type": "rule", "color": palette.soft}, "encoding": {"x": {"datum": 0}}},
            {
                "data": {"values": ticks},
                "mark": {
                    "type": "tick",
                    "thickness": 1,
                    "color": palette.soft,
                    "opacity": 0.7,
                    "size": 9,
                    "aria": True,
                },
                "encoding": {"y": y, "x": {**x, "field": "round"}, "description": tip},
            },
            line(2.5),
            {
                "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1, "aria": True},
                "encoding": {
                    "y": y,
                    "x": {**x, "field": "at"},
                    "description": tip,
                    **verdict_marks(palette, [row.verdict_key for row in rows]),
                },
            },
        ],
    )
