"""The recorded rounds walked through once: each run takes the next rounds, with the coins that fell, until it stops.

No round is used twice, so that the runs are as independent as the rounds are, and the counts are real ones.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from replays.bounds import fewest_trials, upper_rate, upper_share
from replays.recorded import Stretch
from solwatch.judge.rule import ComparedCell, Decision, Replicate
from solwatch.judge.screen import screened
from solwatch.judge.thresholds import MIN_ROUNDS
from solwatch.judge.two_stage import MOST_SUSPECTS, SCREEN_RATE, TwoStage
from solwatch.model.verdict import Verdict

LOOSER = 10
"""The tail model counts cells that a screen so many times looser would suspect."""


@dataclass
class Walk:
    """What the runs came to. ``near``: cells whose p-value at some look was within ``LOOSER`` times the screen's level.

    ``rounds``: used up; ``left``: too few for another run, which count as no run, though a suspect in them counts.
    """

    runs: int = 0
    rounds: int = 0
    left: int = 0
    cells: int = 0
    suspects: int = 0
    suspect_runs: int = 0
    alarm_runs: int = 0
    near: int = 0

    @property
    def suspects_upper(self) -> float:
        """Upper 95 % bound of the suspects of a run, exact for suspects that come independently of each other."""
        return upper_rate(self.suspects, self.runs) if self.runs else math.inf

    @property
    def suspect_share_upper(self) -> float:
        """Upper 95 % bound of the share of runs with a suspect, exact for independent runs."""
        return upper_share(min(self.suspect_runs, self.runs), self.runs) if self.runs else 1.0

    @property
    def modelled_upper(self) -> float:
        """Upper 95 % bound of the suspects of a run by a model: the tail falls at least as fast as the level.

        A cell is suspected at most 1 / ``LOOSER`` times as often as a screen ``LOOSER`` times looser would. Noise with
        two modes can break it: rounds that all lie in one mode agree so well that any level suspects them.
        """
        return upper_rate(self.near, self.runs) / LOOSER if self.runs else math.inf

    @property
    def runs_needed(self) -> int:
        """How many runs without a suspect would show, by counting alone, what the rule reckons with."""
        return fewest_trials(MOST_SUSPECTS)


def walked(stretches: Sequence[Stretch], rule: TwoStage) -> Walk:
    """Walk through all stretches, one after the other."""
    walk = Walk()
    for stretch in stretches:
        start, count = 0, len(stretch.head_slots)
        while start < count:
            start = _run(stretch, start, rule, walk)
    return walk


def _run(stretch: Stretch, start: int, rule: TwoStage, walk: Walk) -> int:
    """Judge one run that begins at ``start``; return where the next one does."""
    compared = _compared(stretch, start, rule.most_rounds)
    reached = min(rule.most_rounds, len(stretch.head_slots) - start)
    decisions: dict[str, Decision] = {}
    for completed in range(1, reached + 1):
        decisions = rule.decide(_until(compared, completed), family=len(compared), completed=completed, ended=False)
        if all(decision.final for decision in decisions.values()):
            reached, whole = completed, True
            break
    else:
        whole = reached == rule.most_rounds
    suspects = sum(decision.suspected_at is not None for decision in decisions.values())
    walk.suspects += suspects
    walk.suspect_runs += suspects > 0
    walk.alarm_runs += any(decision.verdict is Verdict.SLOWER for decision in decisions.values())
    walk.near += _near(_until(compared, reached), rule, reached)
    if whole:
        walk.runs, walk.rounds, walk.cells = walk.runs + 1, walk.rounds + reached, max(walk.cells, stretch.gated)
    else:
        walk.left += reached
    return start + reached


def _compared(stretch: Stretch, start: int, rounds: int) -> list[ComparedCell]:
    slots = stretch.head_slots[start : start + rounds]
    return [
        ComparedCell(
            key=key,
            replicates=[
                Replicate(ordinal, slot, value if slot == 0 else -value)
                for ordinal, (slot, value) in enumerate(
                    zip(slots, cell.by_slot[start : start + rounds], strict=True), start=1
                )
            ],
            min_effect=cell.min_effect,
            margin=cell.margin,
        )
        for key, cell in stretch.cells.items()
    ]


def _until(compared: Sequence[ComparedCell], completed: int) -> list[ComparedCell]:
    return [msgspec.structs.replace(cell, replicates=cell.replicates[:completed]) for cell in compared]


def _near(compared: Sequence[ComparedCell], rule: TwoStage, completed: int) -> int:
    """Return how many cells a looser screen would have suspected by then, those already through included."""
    level = LOOSER * SCREEN_RATE / (len(rule.looks) * len(compared))
    margins = {cell.key: math.log1p(cell.margin) for cell in compared}
    found: set[str] = set()
    for look in rule.looks:
        if look <= completed:
            seen = screened(compared, look, MIN_ROUNDS)
            found |= {key for key, each in seen.items() if each.p_above(margins[key]) <= level}
    return len(found)
