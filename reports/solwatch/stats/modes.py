"""Whether values fall into two heaps."""

import statistics
from collections.abc import Sequence

LEAST_VALUES = 8
LEAST_IN_A_HEAP = 2
APART = 0.9
"""Share of the variance that lies between the two heaps: 0.64 for a normal distribution cut at its middle."""


def two_modes(values: Sequence[float]) -> bool:
    """Return whether cutting the sorted ``values`` at one place leaves little scatter on either side."""
    ordered = sorted(values)
    if len(ordered) < LEAST_VALUES or ordered[0] == ordered[-1]:
        return False
    total = statistics.pvariance(ordered)
    best = 0.0
    for cut in range(LEAST_IN_A_HEAP, len(ordered) - LEAST_IN_A_HEAP + 1):
        low, high = ordered[:cut], ordered[cut:]
        share = len(low) * len(high) / len(ordered) ** 2
        best = max(best, share * (statistics.fmean(high) - statistics.fmean(low)) ** 2 / total)
    return best >= APART
