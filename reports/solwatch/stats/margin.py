"""One-sided tests of a slowdown ratio against a margin."""

import math
from collections.abc import Sequence

from solwatch.stats.moments import moments
from solwatch.stats.student import upper_tail


def p_above(log_ratios: Sequence[float], ratio_limit: float) -> float:
    """Return the p-value of "the slowdown ratio is ``ratio_limit`` or less"; small when it is above.

    One-sample Student t over rounds on the log scale. 1 with fewer than two rounds or when one is not finite:
    no evidence. Equal rounds have no spread; they give 0 when above the limit, else 1. Raises ``ValueError``
    for a limit that is not positive.
    """
    if not (ratio_limit > 0 and math.isfinite(ratio_limit)):
        raise ValueError(f"ratio_limit is {ratio_limit}, wanted a positive number")
    found = moments(log_ratios)
    if found is None or found.standard_error is None:
        return 1.0
    distance = found.mean - math.log(ratio_limit)
    if found.standard_error == 0:
        return 0.0 if distance > 0 else 1.0
    return upper_tail(distance / found.standard_error, found.count - 1)


def p_below(log_ratios: Sequence[float], ratio_limit: float) -> float:
    """Return the p-value of "the slowdown ratio is ``ratio_limit`` or more"; the mirror image of ``p_above``."""
    if not (ratio_limit > 0 and math.isfinite(ratio_limit)):
        raise ValueError(f"ratio_limit is {ratio_limit}, wanted a positive number")
    return p_above([-value for value in log_ratios], 1 / ratio_limit)
