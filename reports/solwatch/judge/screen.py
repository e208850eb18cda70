"""The first stage: which cells are suspects, faster, or as they were, by models that may be wrong.

A model here costs time or power, never a false alarm: whoever it suspects goes to the second stage.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.judge.rule import ComparedCell
from solwatch.stats.student import upper_tail
from solwatch.stats.winsorised import winsorised_moments

PRIOR_ROUNDS = 4
"""What the other cells' scatter counts for, in rounds of the cell's own."""


@dataclass(frozen=True)
class Screened:
    """A cell at a look: mean and standard error of its log ratios, and what they are compared with.

    ``spread``: standard deviation between rounds, never below what the other cells suggest. ``degrees``: of freedom.
    """

    mean: float
    spread: float
    count: int
    degrees: int

    def p_above(self, log_limit: float) -> float:
        """Return the p-value of "θ is at most ``log_limit``"."""
        return upper_tail((self.mean - log_limit) / self._standard_error, self.degrees)

    def p_below(self, log_limit: float) -> float:
        """Return the p-value of "θ is at least ``log_limit``"."""
        return upper_tail((log_limit - self.mean) / self._standard_error, self.degrees)

    @property
    def _standard_error(self) -> float:
        # Equal rounds (a counter) have no spread: any distance is then beyond doubt.
        return max(self.spread / math.sqrt(self.count), 1e-12)


def screened(cells: Sequence[ComparedCell], look: int, least_rounds: int) -> dict[str, Screened]:
    """Return the cells that have ``least_rounds`` usable rounds among the first ``look``.

    A cell's variance is drawn up towards the median of all cells' as if that were ``PRIOR_ROUNDS`` of its own
    rounds; a few rounds that agree by chance must not look like certainty. It is never drawn down. The null kernel,
    which scatters ten times as much, has no part in that median.
    """
    found = {}
    for cell in cells:
        moments = winsorised_moments([each.log_ratio for each in cell.replicates if each.ordinal <= look])
        if moments is not None and moments.spread is not None and moments.count >= least_rounds:
            found[cell.key] = (moments.mean, moments.spread, moments.count)
    own = [spread**2 for key, (_, spread, _) in found.items() if key != NULL_KERNEL]
    # Of two the lower: one noisy cell must not hide what a quiet one shows.
    common = statistics.median_low(own) if own else 0.0
    return {key: _drawn_up(mean, spread, count, common) for key, (mean, spread, count) in found.items()}


def _drawn_up(mean: float, spread: float, count: int, common: float) -> Screened:
    own = count - 1
    if spread**2 >= common:
        return Screened(mean, spread, count, own)
    variance = (PRIOR_ROUNDS * common + own * spread**2) / (PRIOR_ROUNDS + own)
    return Screened(mean, math.sqrt(variance), count, PRIOR_ROUNDS + own)
