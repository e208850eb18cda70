"""Labels of a cell: what else differs between the sides, named beside a verdict that they never change."""

from solwatch.judge.judgement import CellFacts
from solwatch.judge.thresholds import INTERVAL_LEVEL
from solwatch.model.verdict import Label, Verdict
from solwatch.stats.ratio import ratio_estimate


def cell_labels(verdict: Verdict, facts: CellFacts) -> list[Label]:
    """Return the labels of a cell that was compared; none where a side could not be trusted or has no times."""
    if facts.base is None or verdict in (Verdict.BROKEN, Verdict.VOID, Verdict.NEW):
        return []
    found = {
        Label.CLOCK: _lies_in_the_clock(verdict, facts),
        Label.LAUNCHES_CHANGED: _launches_differ(facts),
        Label.CONFIG_CHANGED: _caches_differ(facts),
    }
    return [label for label, holds in found.items() if holds]


def _lies_in_the_clock(verdict: Verdict, facts: CellFacts) -> bool:
    """Return whether the change in time is the clock's.

    Over the rounds whose clocks are known on both sides: the change in cycles is less than the change in time, beyond
    the interval of their difference, and the interval in cycles holds no change beyond the margin in that direction.
    """
    if verdict not in (Verdict.SLOWER, Verdict.FASTER):
        return False
    direction = 1 if verdict is Verdict.SLOWER else -1
    known = [
        (direction * fact.log_ratio, direction * fact.cycles_log_ratio)
        for fact in facts.rounds
        if fact.log_ratio is not None and fact.cycles_log_ratio is not None
    ]
    by_clock = ratio_estimate([in_time - in_cycles for in_time, in_cycles in known], INTERVAL_LEVEL)
    in_cycles = ratio_estimate([in_cycles for _, in_cycles in known], INTERVAL_LEVEL)
    if by_clock is None or in_cycles is None or by_clock.low is None or in_cycles.high is None:
        return False
    return by_clock.low > 1 and in_cycles.high <= 1 + facts.thresholds.margin


def _launches_differ(facts: CellFacts) -> bool:
    assert facts.base is not None, "asked of cells with a base"
    launches = (facts.head.launches, facts.base.launches)
    return None not in launches and launches[0] != launches[1]


def _caches_differ(facts: CellFacts) -> bool:
    """Return whether no state of the caches was seen on both sides.

    The digest is of a process's whole caches. Where some rounds agree, compiling and tuning vary from round to round,
    or another cell's results lie beside this one's: neither is a change of this cell's.
    """
    assert facts.base is not None, "asked of cells with a base"
    head, base = set(facts.head.caches), set(facts.base.caches)
    return bool(head and base) and head.isdisjoint(base)
