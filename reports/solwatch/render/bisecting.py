"""What is said while a bisection goes on, a line before each gate and one after it; and the words for both ends."""

from collections.abc import Sequence

from solwatch.judge.bisecting import Step
from solwatch.model.bisection import Figure, GateTaken, PastCommit
from solwatch.model.plain import plain
from solwatch.model.verdict import Verdict
from solwatch.render.headline import verdict_word
from solwatch.render.units import change

COMPARED = frozenset({Verdict.SLOWER, Verdict.FASTER, Verdict.UNCHANGED, Verdict.ACCEPTED})
"""Verdicts whose ratio may be read off."""

SHORT = 8
"""How much of a commit's hash is shown, as everywhere."""


def step_line(commits: Sequence[PastCommit], step: Step, number: int) -> str:
    """Return what is said before gate ``number``: the commit, what it is compared with, how many may follow."""
    base, head = commits[step.base], commits[step.head]
    more = step.gates_left - 1
    left = f", about {more} more after it" if more else ", the last one when it decides"
    subject = plain(head.subject, 60)
    return f"gate {number}{left}: {head.sha[:SHORT]} {subject!r} against {base.sha[:SHORT]}"


def gate_line(head: PastCommit, taken: GateTaken) -> str:
    """Return what is said after a gate."""
    if taken.failed is not None:
        return f"{head.sha[:SHORT]} is skipped: {plain(taken.failed, 200)}"
    said = [f"{verdict_word(figure.verdict, figure.reason)}{_figure(figure)}" for figure in taken.cells.values()]
    counted = [f"{said.count(one)} cells {one}" if said.count(one) > 1 else one for one in dict.fromkeys(said)]
    return f"{head.sha[:SHORT]}: {', '.join(counted)}"


def figure_text(figure: Figure | None) -> str:
    """Return a figure as a change, or as its verdict where it has none."""
    if figure is None:
        return "not measured"
    told = change(figure.slowdown_ratio.point) if figure.slowdown_ratio is not None else ""
    if figure.verdict in COMPARED and told:
        return told
    return verdict_word(figure.verdict, figure.reason)


def duration(seconds: float) -> str:
    """Return a duration in the largest unit that fits it twice: ``85 s``, ``3 min``, ``2.4 h``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _figure(figure: Figure) -> str:
    measured = figure.verdict in COMPARED
    return f" {change(figure.slowdown_ratio.point)}" if measured and figure.slowdown_ratio is not None else ""
