"""The heat map: SOL score by size and layer."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from solwatch.model.verdict import FAILING
from solwatch.render.charts.figure import Figure
from solwatch.render.charts.theme import Palette, chart
from solwatch.render.units import ABSENT
from solwatch.render.view import CellRow


def heat(rows: Sequence[CellRow], palette: Palette) -> Figure | None:
    """Return the figure; ``None`` unless scores spread over at least two sizes or two layers."""
    in_order = sorted(rows, key=lambda row: row.index)
    scored = [row for row in in_order if row.head_score is not None and row.size is not None]
    # A layer is measured by one benchmark as a rule; where others have it too they get lines of their own.
    usual = Counter(row.benchmark for row in scored).most_common(1)[0][0] if scored else ""
    placed = {(_line(row, usual), row.size): row for row in scored}
    lines = list(dict.fromkeys(line for line, _ in placed))
    sizes = sorted({size for _, size in placed if size is not None})
    if len(lines) < 2 and len(sizes) < 2:
        return None
    size_name = scored[0].size_name
    return Figure(
        anchor="heat",
        title=f"SOL score by {size_name} and layer",
        label=f"heat map of the SOL score of {len(placed)} cells, {size_name} across, layers down",
        caption="T_SOL / T of head: 1 is the hardware's limit; the fuller, the nearer. Framed: slower, below its floor "
        "or broken.",
        spec=_spec(placed, lines, [f"{size:g}" for size in sizes], size_name, palette),
        titles=["layer", *(f"{size:g} {size_name}" for size in sizes)],
        rows=[
            [line, *(placed[line, size].score if (line, size) in placed else ABSENT for size in sizes)]
            for line in lines
        ],
    )


def _line(row: CellRow, usual: str) -> str:
    return row.layer if row.benchmark == usual else f"{row.layer} ({row.benchmark})"


def _spec(
    placed: dict[tuple[str, float | None], CellRow],
    lines: list[str],
    sizes: list[str],
    size_name: str,
    palette: Palette,
) -> dict[str, Any]:
    values = [
        {
            "layer": line,
            "size": f"{size:g}",
            "score": row.head_score,
            "text": f"{row.head_score:.2f}",
            "failing": row.verdict_key in FAILING and row.gated,
            "tip": f"{row.key}: SOL score {row.score}, {row.bound} bound, {row.head_time}",
        }
        for (line, size), row in placed.items()
    ]
    encoding = {
        "x": {
            "field": "size",
            "type": "ordinal",
            "sort": sizes,
            "title": size_name,
            "axis": {"labelAngle": 0, "orient": "top", "ticks": False, "domain": False},
        },
        "y": {
            "field": "layer",
            "type": "nominal",
            "sort": lines,
            "title": None,
            "axis": {"labelLimit": 250, "ticks": False, "domain": False, "labelColor": palette.ink},
        },
    }
    return chart(
        palette,
        width={"step": 76},
        height={"step": 30},
        data={"values": values},
        encoding=encoding,
        layer=[
            {
                "mark": {
                    "type": "rect",
                    "aria": True,
                    "color": palette.faster,
                    "strokeWidth": 2,
                    "width": {"band": 0.94},
                    "height": {"band": 0.84},
                },
                "encoding": {
                    "fillOpacity": {
                        "field": "score",
                        "type": "quantitative",
                        "scale": {"domain": [0, 1], "range": [0.04, 0.5]},
                        "legend": None,
                    },
                    "stroke": {"condition": {"test": "datum.failing", "value": palette.slower}, "value": None},
                    "description": {"field": "tip", "type": "nominal"},
                },
            },
            {"mark": {"type": "text", "fontSize": 12, "color": palette.ink}, "encoding": {"text": {"field": "text"}}},
        ],
    )
