"""Student's t: tail and quantile.

By the power series of the incomplete beta function, whose terms are all positive: exact to the last digits far out in
the tail too. scipy has the same, and takes longer to load than a whole report may take.
"""

import functools
import math


def upper_tail(t: float, degrees: float) -> float:
    """Return P(T >= t) for Student's t with ``degrees`` degrees of freedom."""
    if math.isnan(t):
        return math.nan
    if t < 0:
        return 1.0 - upper_tail(-t, degrees)
    if math.isinf(t):
        return 0.0
    square = t * t
    if square > 1:  # below, half of it less the middle's share: nothing cancels there, and this series would be long
        return 0.5 * _beta(degrees / (degrees + square), degrees / 2, 0.5)
    return 0.5 - 0.5 * _beta(square / (degrees + square), 0.5, degrees / 2)


@functools.lru_cache(maxsize=4096)
def upper_quantile(tail: float, degrees: float) -> float:
    """Return the t that is exceeded with probability ``tail``, 0 < ``tail`` < 1."""
    if not 0 < tail < 1:
        raise ValueError(f"tail is {tail}, wanted 0 < tail < 1")
    if tail > 0.5:
        return -upper_quantile(1.0 - tail, degrees)
    low, high = 0.0, 1.0
    while upper_tail(high, degrees) > tail:
        low, high = high, 2.0 * high
    while (middle := 0.5 * (low + high)) not in (low, high):
        low, high = (middle, high) if upper_tail(middle, degrees) > tail else (low, middle)
    return high


def _beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, 0 <= ``x`` < 1."""
    if x <= 0:
        return 0.0
    term = total = 1.0
    n = 0
    while term > total * 1e-17:
        term *= x * (a + b + n) / (a + 1 + n)
        total += term
        n += 1
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return total * math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta) / a
