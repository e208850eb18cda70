"""Mean and spread of log ratios over rounds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Moments:
    """Of ``count`` finite values: their mean, and the standard deviation of one (``None`` below two values)."""

    mean: float
    spread: float | None
    count: int

    @property
    def standard_error(self) -> float | None:
        """Standard error of the mean, ``None`` where the spread is."""
        return None if self.spread is None else self.spread / math.sqrt(self.count)


def moments(values: Sequence[float]) -> Moments | None:
    """Return the moments of ``values``; ``None`` without values or when one is not finite.

    One infinite or NaN log ratio says that a round went wrong: its caller must drop it and say so, a mean of
    the others must not hide it.
    """
    if not values or not all(math.isfinite(value) for value in values):
        return None
    count = len(values)
    if count == 1:
        return Moments(values[0], None, 1)
    if min(values) == max(values):
        return Moments(values[0], 0.0, count)
    mean = math.fsum(values) / count
    return Moments(mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1)), count)
