"""Whether a cell holds its SOL floor."""

from collections.abc import Sequence

from solwatch.judge.judgement import CellFacts
from solwatch.judge.thresholds import MIN_ROUNDS, Thresholds
from solwatch.stats.ratio import time_estimate

FLOOR_SHARE = 0.8
"""Of the commit's false-alarm rate; the screen and the confirmation together use up a fifth of it."""


def missed_floor(facts: CellFacts, thresholds: Thresholds) -> str | None:
    """Return evidence when head is under its SOL floor even at the good end of its interval.

    One-sided, at the share of the false-alarm rate that verdicts of slower leave, shared over looks and cells.
    """
    floor = facts.thresholds.sol_floor
    score = facts.head.score
    if floor is None or score is None or score.sol_score is None:
        return None
    if unchecked_floor(facts, thresholds) is not None:
        return None
    rate = FLOOR_SHARE * thresholds.false_alarm_rate / (len(thresholds.looks) * max(thresholds.family, 1))
    time = time_estimate(_times(facts, thresholds.looks), 1 - 2 * rate)
    if time is None or time.low is None:
        return None
    best = score.t_sol_s / time.low
    if best >= floor:
        return None
    return f"SOL score {score.sol_score:.3f}, at best {best:.3f}, is under the floor of {floor:.3f} (sol_floor)"


def unchecked_floor(facts: CellFacts, thresholds: Thresholds) -> str | None:
    """Return why a SOL floor that was set says nothing, and what to do; ``None`` without a floor or with a score."""
    floor, score, measured = facts.thresholds.sol_floor, facts.head.score, len(_times(facts, thresholds.looks))
    if floor is None:
        return None
    if facts.work is None:
        why = "the suite does not say what work the cell does: let its sol_floor match other cells"
    elif measured < MIN_ROUNDS:
        why = f"{measured} of the {MIN_ROUNDS} rounds that it takes were measured: raise --rounds or budget_s"
    elif score is None:
        why = f"no ceiling is known for {facts.work.dtype}: solwatch ceilings shows those of this device"
    elif score.sol_score is None:
        why = "the time beats the measured ceiling, so there is no score: measure again on an idle machine"
    else:
        return None
    return f"the SOL floor of {floor:.3f} (sol_floor) could not be checked: {why}"


def _times(facts: CellFacts, looks: Sequence[int]) -> list[float]:
    """Return head's times up to the last look that the cell reached: at any other round chance had more tries."""
    reached = facts.rounds[-1].ordinal if facts.rounds else 0
    cut = max((look for look in looks if look <= reached), default=reached)
    return [fact.head_s for fact in facts.rounds if fact.head_s is not None and fact.ordinal <= cut]
