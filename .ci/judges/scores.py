"""How each rule does over many runs."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import beta

from judges.judge import Judge
from judges.recording import Recording
from judges.run import CELLS, drawn, planted

SIZES = (0.005, 0.01, 0.02, 0.05)


@dataclass
class Score:
    """Of one rule. ``red``: A/A runs with any of the false ``alarms``; ``called``: cells called slower, by size."""

    judge: Judge
    runs: int = 0
    red: int = 0
    alarms: int = 0
    seconds: float = 0.0
    called: dict[float, Counter[str]] = field(default_factory=lambda: {size: Counter() for size in SIZES})

    @property
    def alarms_per_run(self) -> float:
        """Cells called slower in a run in which nothing is."""
        return self.alarms / self.runs

    @property
    def red_at_most(self) -> float:
        """Upper end of the one-sided 95 % interval of the share of red runs (Clopper and Pearson)."""
        return 1.0 if self.red == self.runs else float(beta.ppf(0.95, self.red + 1, self.runs - self.red))

    @property
    def seconds_per_run(self) -> float:
        """Wall time on the GPU of a run in which nothing is slower."""
        return self.seconds / self.runs

    def called_share(self, size: float) -> float:
        """Return the share of cells called slower when all are slower by ``size``."""
        return sum(self.called[size].values()) / (CELLS * self.runs)


def scores(
    judges: Sequence[Judge],
    recordings: Sequence[Recording],
    *,
    runs: int,
    rounds: int,
    seed: int,
    track: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[Score]:
    """Return each rule's score over the same ``runs`` runs of at most ``rounds`` rounds; the same seed, the same runs.

    Files are drawn by their rounds.
    """
    dice = np.random.default_rng(seed)
    found = [Score(judge) for judge in judges]
    weights = np.array([len(each.rounds) for each in recordings], dtype=np.float64)
    for _ in track(range(runs)):
        recording = recordings[dice.choice(len(recordings), p=weights / weights.sum())]
        run = drawn(recording, dice, rounds)
        slower_runs = {size: planted(run, size) for size in SIZES}
        for score in found:
            ruling = score.judge.rule(run)
            score.runs += 1
            score.alarms += len(ruling.slower)
            score.red += bool(ruling.slower)
            score.seconds += ruling.seconds(recording)
            for size, slower_run in slower_runs.items():
                keys = {cell.key for cell in slower_run.cells}
                score.called[size].update(score.judge.rule(slower_run).slower & keys)
    return found
