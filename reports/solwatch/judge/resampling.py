"""How surely the rule catches a slowdown in cells that scatter as recorded rounds of equal sides did.

A gate is drawn from those rounds: whole rounds with replacement, so that what a pair of processes does to all cells
stays together; a new coin for each; the slowdown added to every log ratio. Then the rule decides, screen and
confirmation. No formula knows both stages, and none knows noise with two modes.
"""

import math
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from solwatch.judge.rule import ComparedCell, Replicate
from solwatch.judge.two_stage import TwoStage
from solwatch.model.verdict import Verdict

Ratios = Sequence[float | None]
"""A cell's log ratio in each recorded round of equal sides, ``None`` where the round does not count."""


class Held(NamedTuple):
    """What a cell is held to in a drawn gate: min effect and margin, and the slowdown planted, as fractions.

    ``most_rounds``: its own budget of rounds, ``None`` without one.
    """

    min_effect: float
    margin: float
    planted: float
    most_rounds: int | None = None


def caught_shares(
    recorded: Mapping[str, Ratios], held: Mapping[str, Held], rule: TwoStage, *, gates: int, seed: int
) -> dict[str, float]:
    """Return the share of ``gates`` drawn gates in which each cell's slowdown was called slower."""
    caught = dict.fromkeys(recorded, 0)
    for number in range(gates):
        cells = _drawn(recorded, held, rule.most_rounds, random.Random(f"{seed} {number}"))
        for key, decision in rule.decide(cells, family=len(cells), completed=rule.most_rounds, ended=True).items():
            caught[key] += decision.verdict is Verdict.SLOWER
    return {key: count / gates for key, count in caught.items()}


def _drawn(
    recorded: Mapping[str, Ratios], held: Mapping[str, Held], rounds: int, dice: random.Random
) -> list[ComparedCell]:
    count = len(next(iter(recorded.values())))
    draws = [(dice.randrange(count), dice.choice((1, -1))) for _ in range(rounds)]
    return [
        ComparedCell(
            key=key,
            replicates=[
                Replicate(ordinal, 0, sign * ratio + math.log1p(held[key].planted))
                for ordinal, (index, sign) in enumerate(draws[: held[key].most_rounds], start=1)
                if (ratio := ratios[index]) is not None
            ],
            min_effect=held[key].min_effect,
            margin=held[key].margin,
            most_rounds=held[key].most_rounds,
        )
        for key, ratios in recorded.items()
    ]
