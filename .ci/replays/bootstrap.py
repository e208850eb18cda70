"""How far the replayed rates depend on which rounds happened to be recorded: a bootstrap over clusters.

Rounds of one occasion share their day, card and temperature, so they are not independent. Where there are three
occasions or more, whole occasions are drawn; with fewer, blocks of consecutive rounds of each file, which keeps what
lasts for a few rounds together and can say nothing of another day.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from replays.drawing import replay
from replays.recorded import Stretch
from solwatch.judge.two_stage import TwoStage

LEAST_OCCASIONS = 3
BLOCK_ROUNDS = 5


@dataclass(frozen=True)
class Bootstrap:
    """95 % intervals of the rates a run over resampled clusters. ``clusters``: what they are, in words."""

    clusters: str
    resamples: int
    runs_each: int
    alarms: tuple[float, float]
    suspects: tuple[float, float]


def bootstrap(stretches: Sequence[Stretch], rule: TwoStage, *, resamples: int, runs: int, seed: int) -> Bootstrap:
    """Replay ``runs`` runs in each of ``resamples`` corpora drawn from the clusters."""
    alarms, suspects = [], []
    for number in range(resamples):
        drawn = resampled(stretches, random.Random(f"clusters {seed} {number}"))
        found = replay(drawn, rule, runs=runs, planted=0.0, seed=f"{seed} {number}")
        alarms.append(found.alarm_runs / runs)
        suspects.append(found.suspects / runs)
    return Bootstrap(clusters_of(stretches), resamples, runs, middle(alarms), middle(suspects))


def clusters_of(stretches: Sequence[Stretch]) -> str:
    """Return what is drawn, in words."""
    occasions = len({each.occasion for each in stretches})
    if occasions >= LEAST_OCCASIONS:
        return f"{occasions} occasions"
    blocks = sum(len(blocks_of(each)) for each in stretches)
    return f"{blocks} blocks of {BLOCK_ROUNDS} consecutive rounds: {occasions} of {LEAST_OCCASIONS} occasions"


def resampled(stretches: Sequence[Stretch], dice: random.Random) -> list[Stretch]:
    """Return a corpus of as many clusters, drawn with replacement."""
    occasions: dict[str, list[Stretch]] = {}
    for each in stretches:
        occasions.setdefault(each.occasion, []).append(each)
    if len(occasions) >= LEAST_OCCASIONS:
        return [each for name in dice.choices(sorted(occasions), k=len(occasions)) for each in occasions[name]]
    drawn = []
    for each in stretches:
        blocks = blocks_of(each)
        drawn.append(each.taken([at for block in dice.choices(blocks, k=len(blocks)) for at in block]))
    return drawn


def blocks_of(stretch: Stretch) -> list[range]:
    """Return the positions of consecutive rounds, block by block; the last one may be shorter."""
    count = len(stretch.head_slots)
    return [range(start, min(start + BLOCK_ROUNDS, count)) for start in range(0, count, BLOCK_ROUNDS)]


def middle(values: Sequence[float]) -> tuple[float, float]:
    """Return the values that 2.5 % lie below and above."""
    ordered = sorted(values)
    cut = int(0.025 * len(ordered))
    return ordered[cut], ordered[-1 - cut]
