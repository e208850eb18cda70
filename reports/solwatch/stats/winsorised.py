"""Mean and spread that one wild round can't move far."""

import math
import statistics
from collections.abc import Sequence

from solwatch.stats.moments import Moments, moments

REACH = 3.0
"""Values further than so many robust standard deviations from the median are pulled in to that distance."""

_MAD_TO_SD = 1.4826
"""Standard deviation over median absolute deviation, for a normal distribution."""


SHARE = 0.125
"""Of the values, at most, may be pulled in: where more lie far out, that is how the values scatter, and it counts."""

_LEAST_REACH = 1e-12
"""Most values are equal but for their last digits."""


def winsorised(values: Sequence[float]) -> list[float]:
    """Return ``values`` with the few far from the median pulled in; as they are when many are, or most are equal."""
    centre = statistics.median(values)
    distances = [abs(value - centre) for value in values]
    reach = REACH * _MAD_TO_SD * statistics.median(distances)
    if reach < _LEAST_REACH or sum(distance > reach for distance in distances) > SHARE * len(values):
        return list(values)
    return [min(max(value, centre - reach), centre + reach) for value in values]


def winsorised_moments(values: Sequence[float]) -> Moments | None:
    """Return the moments of the winsorised values; ``None`` without values or when one is not finite."""
    if not values or not all(math.isfinite(value) for value in values):
        return None
    return moments(winsorised(values))
