"""The view of one cell's verdict, wherever it comes from: a report's row, a comment's line."""

from dataclasses import dataclass

from solwatch.model.estimate import Estimate
from solwatch.model.plain import plain
from solwatch.model.verdict import CellVerdict, Verdict
from solwatch.render.headline import verdict_word
from solwatch.render.units import ABSENT, change, detectable, percentage


@dataclass(frozen=True)
class VerdictView:
    """A verdict as text. ``ratio``: head / base, ``None`` where it is not known or not to be trusted."""

    key: str
    word: str
    reason: str
    labels: list[str]
    ratio: Estimate | None
    change: str
    interval: str
    mde: str
    power: str
    evidence: list[str]


def verdict_view(cell: CellVerdict) -> VerdictView:
    """Return the view of ``cell``, whatever figures are in it: they may come from a file."""
    # Figures that can't be trusted must not be read off a table; the details still have them.
    ratio = cell.slowdown_ratio if cell.verdict is not Verdict.VOID else None
    interval = ABSENT
    if ratio is not None and ratio.low is not None and ratio.high is not None:
        interval = f"{change(ratio.low, ratio.point)} … {change(ratio.high, ratio.point)}"
    return VerdictView(
        key=plain(cell.key),
        word=verdict_word(cell.verdict, cell.reason),
        reason=cell.reason.value.replace("_", " "),
        labels=[label.value.replace("_", " ") for label in cell.labels],
        ratio=ratio,
        change=change(ratio.point) if ratio else ABSENT,
        interval=interval,
        mde=detectable(cell.mde),
        power=percentage(cell.power),
        evidence=[plain(sentence) for sentence in cell.evidence],
    )
