"""The roofline: arithmetic intensity against achieved FLOP/s, base and head, under rated and sustained roofs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from solwatch.model.plain import plain
from solwatch.model.record import Ceilings
from solwatch.model.verdict import Verdict
from solwatch.render.charts.figure import Figure
from solwatch.render.charts.theme import Palette, chart, verdict_marks
from solwatch.render.units import ABSENT, percentage, scaled
from solwatch.render.view import CellRow

_WIDTH, _HEIGHT = 700, 380
_MARKS = 16
"""Pixels between base and head from which on an arrow shows though the verdict says nothing of a change."""

_SHAPES = dict.fromkeys((Verdict.SLOWER, Verdict.FASTER, Verdict.ACCEPTED), "circle")
"""A slower cell's mark points up elsewhere, where up is more time. Here arrows say it, and slower is down."""

_CHANGED = frozenset(_SHAPES)


@dataclass(frozen=True)
class _Point:
    """One cell: FLOP per byte, and the FLOP/s of its sides."""

    row: CellRow
    intensity: float
    head: float
    base: float | None


@dataclass(frozen=True)
class _Roof:
    """One pair of ceilings in FLOP/s and bytes/s, shared by the ``dtypes`` for which they are equal."""

    kind: str
    dtypes: tuple[str, ...]
    flops: float
    bandwidth: float

    @property
    def text(self) -> str:
        """What the legend says."""
        names = ", ".join(plain(name, 20) for name in self.dtypes)
        return f"{self.kind}: {names} {scaled(self.flops, 'FLOP/s')}, memory {scaled(self.bandwidth, 'B/s')}"


def roofline(rows: Sequence[CellRow], ceilings: Ceilings, palette: Palette) -> Figure | None:
    """Return the figure; ``None`` when no cell has work and a time, or no roof is known."""
    points = [point for row in rows if (point := _point(row)) is not None]
    roofs = _roofs(ceilings, {point.row.facts.work.dtype for point in points if point.row.facts.work is not None})
    if not points or not roofs:
        return None
    rated = any(roof.kind == "rated" for roof in roofs)
    return Figure(
        anchor="roofline",
        title="Roofline",
        label=f"roofline of {len(points)} cells: FLOP per byte against FLOP/s",
        caption=(
            "Each mark is a cell of head; what is left above it, up to the roof, is what could still be had. "
            "A ring is the same cell of base; an arrow leads from it to head where the cell changed. "
            + (
                "Solid: rated ceilings; dashed: sustained, measured on this device."
                if rated
                else "The roof is what was measured on this device; it has no rated ceilings."
            )
        ),
        spec=_spec(points, roofs, palette),
        titles=["cell", "FLOP per byte", "base", "head", "of the limit", "what limits it"],
        rows=[
            [
                point.row.key,
                f"{point.intensity:.4g}",
                scaled(point.base, "FLOP/s"),
                scaled(point.head, "FLOP/s"),
                percentage(point.row.head_score) if point.row.head_score is not None else ABSENT,
                point.row.bound,
            ]
            for point in points
        ],
    )


def _point(row: CellRow) -> _Point | None:
    work, score = row.facts.work, row.facts.head.score
    if work is None or score is None or work.flops <= 0 or work.traffic_bytes <= 0:
        return None
    intensity = work.flops / work.traffic_bytes
    base = row.facts.base.score.flops_per_s if row.facts.base and row.facts.base.score else None
    if not _drawable(intensity, score.flops_per_s):
        return None
    return _Point(row, intensity, score.flops_per_s, base if base is not None and _drawable(base) else None)


def _drawable(*values: float) -> bool:
    """Return whether all lie where there may be hardware: a damaged record can hold any number."""
    return all(1e-30 < value < 1e30 for value in values)


def _roofs(ceilings: Ceilings, dtypes: set[str]) -> list[_Roof]:
    shared: dict[tuple[str, float, float], list[str]] = {}
    for kind, peaks, bandwidth in (
        ("rated", ceilings.rated_flops, ceilings.rated_bandwidth),
        ("sustained", ceilings.sustained_flops, ceilings.sustained_bandwidth),
    ):
        for dtype in sorted(dtypes):
            flops = peaks.get(dtype)
            if bandwidth and flops and _drawable(bandwidth, flops, flops / bandwidth):
                shared.setdefault((kind, flops, bandwidth), []).append(dtype)
    return [_Roof(kind, tuple(names), flops, bandwidth) for (kind, flops, bandwidth), names in shared.items()]


def _spec(points: Sequence[_Point], roofs: Sequence[_Roof], palette: Palette) -> dict[str, Any]:
    ridges = [roof.flops / roof.bandwidth for roof in roofs]
    left = min(min(point.intensity for point in points) / 1.6, min(ridges) / 2)
    right = max(max(point.intensity for point in points) * 1.6, max(ridges) * 3)
    achieved = [flops for point in points for flops in (point.head, point.base) if flops is not None]
    # A cell can beat a roof that was only measured: it is shown above it.
    top = 1.8 * max(*(roof.flops for roof in roofs), *achieved)
    bottom = min(min(achieved) / 1.8, top / 100)
    x = _axis("arithmetic intensity, FLOP per byte", left, right)
    y = _axis("achieved FLOP/s", bottom, top, format_=".0s")
    lines = [
        {"roof": roof.text, "order": order, "x": at, "y": min(roof.flops, at * roof.bandwidth)}
        for roof in roofs
        for order, at in enumerate((max(left, bottom / roof.bandwidth), roof.flops / roof.bandwidth, right))
    ]
    values = [
        {
            "x": point.intensity,
            "head": point.head,
            "base": point.base,
            "way": _way(point, math.log10(top / bottom)),
            "verdict": point.row.verdict_text if point.row.verdict_text != "identical" else "unchanged",
            "tip": (
                f"{point.row.key}: {scaled(point.head, 'FLOP/s')}, {point.row.head_time}, SOL {point.row.score}, "
                f"{point.row.verdict_text}"
            ),
        }
        for point in reversed(points)  # the worst on top
    ]
    texts = [roof.text for roof in roofs]
    dashes = [[1, 0] if roof.kind == "rated" else [6, 4] for roof in roofs]
    joined = {"transform": [{"filter": "isValid(datum.base)"}]}

    def arrowhead(way: str, offset: int) -> dict[str, Any]:
        # A cell does the same work on both sides, so that all arrows are upright. The tip touches head's mark.
        return {
            "transform": [{"filter": f"datum.way === '{way}'"}],
            "data": {"values": values},
            "mark": {
                "type": "point",
                "shape": f"triangle-{way}",
                "filled": True,
                "size": 45,
                "opacity": 1,
                "yOffset": offset,
                "color": palette.ink,
            },
            "encoding": {"x": {**x, "field": "x"}, "y": {**y, "field": "head"}},
        }

    return chart(
        palette,
        width=_WIDTH,
        height=_HEIGHT,
        layer=[
            {
                "data": {"values": lines},
                "mark": {"type": "line", "color": palette.ink, "strokeWidth": 1.6},
                "encoding": {
                    "x": {**x, "field": "x"},
                    "y": {**y, "field": "y"},
                    "order": {"field": "order", "type": "quantitative"},
                    "strokeDash": {
                        "field": "roof",
                        "type": "nominal",
                        "scale": {"domain": texts, "range": dashes},
                        "legend": {
                            "title": None,
                            "orient": "bottom",
                            "direction": "vertical",
                            "symbolSize": 900,
                            "symbolStrokeColor": palette.ink,
                        },
                    },
                },
            },
            {
                **joined,
                "data": {"values": values},
                "mark": {"type": "rule", "color": palette.ink, "strokeWidth": 1.2},
                "encoding": {"x": {**x, "field": "x"}, "y": {**y, "field": "base"}, "y2": {"field": "head"}},
            },
            {
                **joined,
                "data": {"values": values},
                "mark": {"type": "point", "shape": "circle", "size": 90, "color": palette.soft, "strokeWidth": 1.2},
                "encoding": {"x": {**x, "field": "x"}, "y": {**y, "field": "base"}},
            },
            arrowhead("down", -7),
            arrowhead("up", 7),
            {
                "data": {"values": values},
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "aria": True},
                "encoding": {
                    "x": {**x, "field": "x"},
                    "y": {**y, "field": "head"},
                    "description": {"field": "tip", "type": "nominal"},
                    **verdict_marks(palette, [point.row.verdict_key for point in points], shapes=_SHAPES),
                },
            },
        ],
    )


def _way(point: _Point, decades: float) -> str | None:
    """Return where an arrow points, ``None`` where head lies on base but for noise."""
    if point.base is None or point.base == point.head:
        return None
    pixels = abs(math.log10(point.head / point.base)) / decades * _HEIGHT
    if pixels < _MARKS and point.row.verdict_key not in _CHANGED:
        return None
    return "up" if point.head > point.base else "down"


def _axis(title: str, low: float, high: float, *, format_: str = "~g") -> dict[str, Any]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    return {
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"values": [10.0**exponent for exponent in range(first, last + 1)], "format": format_},
    }
