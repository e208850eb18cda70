"""Runs of a gate drawn from recorded rounds, and what the rule makes of them.

In each run an occasion is drawn, and in each of two groups of its cells whole rounds are drawn with replacement, so
that what a pair of processes does to all cells stays together; for each round the coin is tossed anew. A slowdown is
planted by adding it to every log ratio.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from replays.bounds import upper_share
from replays.recorded import Stretch
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.judge.rule import ComparedCell, Decision, Replicate
from solwatch.judge.two_stage import CONFIRM_ROUNDS, TwoStage
from solwatch.model.verdict import Verdict

GROUPS = 2


@dataclass
class Tally:
    """What came of ``runs`` runs with one size planted. ``verdicts``: of each cell, over runs and groups."""

    runs: int
    suspects: int
    suspect_runs: int
    alarm_runs: int
    rounds: list[int]
    verdicts: dict[str, list[Verdict]]

    @property
    def suspects_upper(self) -> float:
        """Upper 95 % bound of the suspects of a run: of the share of runs that have any, times how many those have."""
        each = self.suspects / self.suspect_runs if self.suspect_runs else 1.0
        return each * upper_share(self.suspect_runs, self.runs)


def drawn(stretch: Stretch, rounds: int, planted: float, dice: random.Random) -> Iterator[ComparedCell]:
    """Yield the cells of one run: the null kernel goes with the first group, and nothing is planted in it."""
    for group in range(GROUPS):
        count = len(stretch.head_slots)
        draws = [(dice.randrange(count), dice.choice((1, -1))) for _ in range(rounds)]
        for key, cell in stretch.cells.items():
            if key == NULL_KERNEL and group > 0:
                continue
            shift = 0.0 if key == NULL_KERNEL else math.log1p(planted)
            yield ComparedCell(
                key=key if key == NULL_KERNEL else f"{key}#{group}",
                replicates=[
                    Replicate(ordinal, 0, sign * cell.by_slot[index] + shift)
                    for ordinal, (index, sign) in enumerate(draws, start=1)
                ],
                min_effect=cell.min_effect,
                margin=cell.margin,
            )


def replay(stretches: Sequence[Stretch], rule: TwoStage, *, runs: int, planted: float, seed: str) -> Tally:
    """Judge ``runs`` runs. The rule stops by itself: rounds after a cell's verdict don't count for it."""
    tally = Tally(runs, 0, 0, 0, [], {})
    weights = [len(each.head_slots) for each in stretches]
    for run in range(runs):
        dice = random.Random(f"{seed} {planted} {run}")
        stretch = stretches[0] if len(stretches) == 1 else dice.choices(stretches, weights)[0]
        compared = list(drawn(stretch, rule.most_rounds, planted, dice))
        decisions = rule.decide(compared, family=len(compared), completed=rule.most_rounds, ended=True)
        suspects = sum(decision.suspected_at is not None for decision in decisions.values())
        tally.suspects += suspects
        tally.suspect_runs += suspects > 0
        tally.alarm_runs += any(decision.verdict is Verdict.SLOWER for decision in decisions.values())
        tally.rounds.append(max(rounds_taken(decision, rule) for decision in decisions.values()))
        for key, decision in decisions.items():
            tally.verdicts.setdefault(key.split("#")[0], []).append(decision.verdict)
    return tally


def rounds_taken(decision: Decision, rule: TwoStage) -> int:
    """Return the rounds after which a cell was through; a suspect that was given up counts as if to the end."""
    if decision.decided_at is not None:
        return decision.decided_at
    return rule.looks[-1] if decision.suspected_at is None else decision.suspected_at + CONFIRM_ROUNDS
