"""Mean and spread that one wild round can't move far."""

import math
import statistics
from collections.abc import Sequence

from solwatch.stats.moments import Moments, moments

REACH = 3.0
"""Values further than so many robust standard deviations from the median are pulled in to that distance."""

_MAD_TO_SD = 1.4826
"""Standard deviation over median absolute deviation, for a normal distribution."""


def winsorised(values: Sequence[float]) -> list[float]:
    """Return ``values`` with those far from the median pulled in; as they are when most of them are equal."""
    centre = statistics.median(values)
    reach = REACH * _MAD_TO_SD * statistics.median(abs(value - centre) for value in values)
    return [min(max(value, centre - reach), centre + reach) for value in values] if reach > 0 else list(values)


def winsorised_moments(values: Sequence[float]) -> Moments | None:
    """Return the moments of the winsorised values; ``None`` without values or when one is not finite."""
    if not values or not all(math.isfinite(value) for value in values):
        return None
    return moments(winsorised(values))
