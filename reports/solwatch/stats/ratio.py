"""Estimates of ratios and times over rounds: the mean of logarithms, with Student's t."""

import math
from collections.abc import Sequence

from solwatch.model.estimate import Estimate
from solwatch.stats.moments import moments
from solwatch.stats.student import upper_quantile


def ratio_estimate(log_ratios: Sequence[float], level: float) -> Estimate | None:
    """Return the slowdown ratio (head / base) of rounds whose log ratios are given, with its interval.

    The point is exp(mean log ratio), the interval exp(mean ± t·s/√n) with n - 1 degrees of freedom: rounds
    are the replicates. One round has no interval; equal rounds have one of no width. ``None`` without rounds
    or when one is not finite. Raises ``ValueError`` for a level outside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, wanted 0 < level < 1")
    found = moments(log_ratios)
    if found is None:
        return None
    error = found.standard_error
    if error is None:
        return Estimate(point=_exp(found.mean), low=None, high=None, level=level, count=1)
    reach = upper_quantile((1 - level) / 2, found.count - 1) * error if error > 0 else 0.0
    return Estimate(
        point=_exp(found.mean),
        low=_exp(found.mean - reach),
        high=_exp(found.mean + reach),
        level=level,
        count=found.count,
    )


def time_estimate(times_s: Sequence[float], level: float) -> Estimate | None:
    """Return the geometric mean of one time for each round, in seconds, with its interval.

    Geometric, so that the ratio of two such estimates is the estimate of the ratio. ``None`` without times or
    when one is not positive and finite.
    """
    if not all(time > 0 and math.isfinite(time) for time in times_s):
        return None
    return ratio_estimate([math.log(time) for time in times_s], level)


def _exp(value: float) -> float:
    # Two wild rounds give an interval wider than a float holds: its end is then infinite, not an error.
    return math.inf if value > 700 else math.exp(value)
