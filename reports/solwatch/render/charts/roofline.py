"""The roofline: arithmetic intensity against achieved FLOP/s, under rated and sustained roofs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from solwatch.model.plain import plain
from solwatch.model.record import Ceilings
from solwatch.render.charts.svg import element, picture, title
from solwatch.render.units import scaled
from solwatch.render.view import CellRow

WIDTH, HEIGHT = 760.0, 380.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 84.0, 18.0, 16.0, 44.0


@dataclass(frozen=True)
class _Point:
    row: CellRow
    intensity: float
    flops_per_s: float


@dataclass(frozen=True)
class _Axes:
    """Logarithmic axes; limits are powers of ten's exponents."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def x(self, intensity: float) -> float:
        return _LEFT + (math.log10(intensity) - self.x_low) / (self.x_high - self.x_low) * (WIDTH - _LEFT - _RIGHT)

    def y(self, flops_per_s: float) -> float:
        share = (math.log10(flops_per_s) - self.y_low) / (self.y_high - self.y_low)
        return HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)


def roofline(rows: Sequence[CellRow], ceilings: Ceilings) -> Markup:
    """Return the chart of head's cells; empty markup when no cell has work and a time, or no roof is known."""
    points = [point for row in rows if (point := _point(row)) is not None]
    dtypes = sorted({point.row.facts.work.dtype for point in points if point.row.facts.work is not None})
    roofs = [
        (kind, dtype, flops[dtype], bandwidth)
        for kind, flops, bandwidth in (
            ("rated", ceilings.rated_flops, ceilings.rated_bandwidth),
            ("sustained", ceilings.sustained_flops, ceilings.sustained_bandwidth),
        )
        for dtype in dtypes
        if bandwidth and flops.get(dtype) and _drawable(bandwidth, flops[dtype], flops[dtype] / bandwidth)
    ]
    if not points or not roofs:
        return Markup()
    axes = _axes(points, [(flops, bandwidth) for _, _, flops, bandwidth in roofs])
    parts = [*_grid(axes)]
    # Roofs of equal height (bfloat16, float16) share one line and one label.
    shared: dict[tuple[str, float, float], list[str]] = {}
    for kind, dtype, flops, bandwidth in roofs:
        shared.setdefault((kind, flops, bandwidth), []).append(dtype)
    for position, ((kind, flops, bandwidth), names) in enumerate(shared.items()):
        joined = ", ".join(plain(name, 20) for name in names)
        said = f"{kind}: {joined} {scaled(flops, 'FLOP/s')}, memory {scaled(bandwidth, 'B/s')}"
        parts.append(_roof(axes, kind, flops, bandwidth, said))
        parts += _legend(len(shared) - 1 - position, kind, said)
    parts += [_mark(point, axes) for point in points]
    return picture(WIDTH, HEIGHT, f"roofline of {len(points)} cells", parts, "roofline")


def _point(row: CellRow) -> _Point | None:
    work, score = row.facts.work, row.facts.head.score
    if work is None or score is None or work.flops <= 0 or work.traffic_bytes <= 0:
        return None
    intensity = work.flops / work.traffic_bytes
    return _Point(row, intensity, score.flops_per_s) if _drawable(intensity, score.flops_per_s) else None


def _drawable(*values: float) -> bool:
    """Return whether all lie where there may be hardware: a damaged record can hold any number."""
    return all(1e-30 < value < 1e30 for value in values)


def _axes(points: Sequence[_Point], roofs: Sequence[tuple[float, float]]) -> _Axes:
    ridges = [flops / bandwidth for flops, bandwidth in roofs]
    low = min(min(point.intensity for point in points) / 1.6, min(ridges) / 2)
    high = max(max(point.intensity for point in points) * 1.6, max(ridges) * 3)
    # A cell can beat a roof that was only measured: it is shown above it.
    top = 1.8 * max(*(flops for flops, _ in roofs), *(point.flops_per_s for point in points))
    under = min(min(point.flops_per_s for point in points) / 1.8, top / 100)
    return _Axes(math.log10(low), math.log10(high), math.log10(under), math.log10(top))


def _grid(axes: _Axes) -> list[Markup]:
    parts = []
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    for exponent in range(math.ceil(axes.x_low), math.floor(axes.x_high) + 1):
        x = axes.x(10.0**exponent)
        parts.append(element("line", x1=x, x2=x, y1=_TOP, y2=bottom, class_="grid"))
        parts.append(element("text", f"{10.0**exponent:g}", x=x, y=bottom + 16, text_anchor="middle"))
    for exponent in range(math.ceil(axes.y_low), math.floor(axes.y_high) + 1):
        y = axes.y(10.0**exponent)
        parts.append(element("line", x1=_LEFT, x2=right, y1=y, y2=y, class_="grid"))
        parts.append(element("text", scaled(10.0**exponent, "FLOP/s", 1), x=_LEFT - 6, y=y + 3.5, text_anchor="end"))
    middle = (_LEFT + right) / 2
    parts.append(
        element(
            "text", "arithmetic intensity, FLOP per byte", x=middle, y=HEIGHT - 8, text_anchor="middle", class_="name"
        )
    )
    return parts


def _roof(axes: _Axes, kind: str, flops: float, bandwidth: float, said: str) -> Markup:
    ridge = flops / bandwidth
    left = max(10.0**axes.x_low, 10.0**axes.y_low / bandwidth)
    path = (
        f"M{axes.x(left):.1f} {axes.y(left * bandwidth):.1f}L{axes.x(ridge):.1f} {axes.y(flops):.1f}"
        f"L{WIDTH - _RIGHT:.1f} {axes.y(flops):.1f}"
    )
    return element("path", title(said), d=path, class_=f"roof {kind}")


def _legend(position: int, kind: str, said: str) -> list[Markup]:
    # The corner under the compute roof: cells of high intensity that slow would be outliers indeed.
    right, y = WIDTH - _RIGHT - 8, HEIGHT - _BOTTOM - 12 - 17 * position
    return [
        element("line", x1=right - 26, x2=right, y1=y - 4, y2=y - 4, class_=f"roof {kind}"),
        element("text", said, x=right - 34, y=y, text_anchor="end", class_="rooflabel"),
    ]


def _mark(point: _Point, axes: _Axes) -> Markup:
    row = point.row
    said = f"{row.key}: {scaled(point.flops_per_s, 'FLOP/s')}, {row.head_time}, SOL {row.score}, {row.verdict_text}"
    hollow = "" if row.facts.thresholds.gated else " hollow"
    return element(
        "circle",
        title(said),
        cx=axes.x(point.intensity),
        cy=axes.y(point.flops_per_s),
        r=5.0,
        class_=f"pt v-{row.verdict}{hollow}",
    )
