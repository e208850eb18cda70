"""The kept noise of each card as text."""

import statistics
from collections.abc import Sequence

from solwatch.model.history import NoiseRow
from solwatch.model.plain import plain
from solwatch.render.units import percentage, scaled

_MOST_EARLIER = 30
"""Earlier gates whose middle the newest is shown beside."""


def render_noise(rows: Sequence[NoiseRow]) -> str:
    """Return, for each card and cell, the newest spread beside the median of those before, and the null kernel."""
    if not rows:
        return "no noise is kept yet: `solwatch history noise RECORD` adds a gate of a commit against itself"
    by_cell: dict[tuple[str, str], list[NoiseRow]] = {}
    for row in sorted(rows, key=lambda row: row.taken_at):
        by_cell.setdefault((row.card, row.cell), []).append(row)
    table: list[tuple[str, ...]] = [("cell", "spread", "earlier", "gates", "null kernel", "newest")]
    table += [_line(found) for _, found in sorted(by_cell.items())]
    widths = [max(len(line[at]) for line in table) for at in range(len(table[0]))]
    shown = [
        "  ".join(
            [line[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True))]
        )
        for line in table
    ]
    lines = [shown[0]]
    card = None
    for (this, _), text in zip(sorted(by_cell), shown[1:], strict=True):
        if this != card:
            newest = by_cell[this, _][-1]
            lines.append(plain(f"{newest.machine}: {newest.model}" + (f", {this}" if this != newest.model else "")))
            card = this
        lines.append(text)
    return "\n".join(lines)


def _line(rows: Sequence[NoiseRow]) -> tuple[str, ...]:
    *earlier, newest = rows
    middle = statistics.median(row.spread for row in earlier[-_MOST_EARLIER:]) if earlier else None
    return (
        plain(newest.cell, 80),
        percentage(newest.spread),
        percentage(middle),
        str(len(rows)),
        scaled(newest.null_s, "s"),
        plain(newest.taken_at[:10]),
    )
