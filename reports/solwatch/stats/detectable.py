"""The minimum detectable effect: what a run with this noise sees almost surely."""

import math

from solwatch.stats.student import upper_quantile, upper_tail


def detectable_slowdown(
    spread: float | None, count: int, *, margin: float, alarm_rate: float, miss_rate: float
) -> float | None:
    """Return the slowdown (a fraction) that the test against ``margin`` calls with probability 1 - ``miss_rate``.

    log(1 + MDE) = log(1 + margin) + (t_alarm + t_miss)·s/√n, with ``spread`` s the standard deviation of one round's
    log ratio, ``count`` n rounds, n - 1 degrees of freedom, and ``alarm_rate`` the rate this single test is
    held to after all adjustments. The usual approximation of the noncentral t, a little large for few rounds.
    ``None`` with fewer than two rounds or without a spread; infinite when it is beyond any slowdown.
    """
    if spread is None or count < 2 or not math.isfinite(spread):
        return None
    reach = upper_quantile(alarm_rate, count - 1) + upper_quantile(miss_rate, count - 1)
    exponent = math.log1p(margin) + reach * spread / math.sqrt(count)
    return math.inf if exponent > 700 else math.expm1(exponent)


def detection_power(
    spread: float | None, count: int, *, effect: float, margin: float, alarm_rate: float
) -> float | None:
    """Return the probability with which the test against ``margin`` calls a slowdown of ``effect`` (a fraction).

    P(T > t_alarm - (log(1 + effect) - log(1 + margin))·√n/s), with the arguments of ``detectable_slowdown``: at
    ``effect`` = MDE it is 1 - ``miss_rate``. ``None`` with fewer than two rounds or without a spread.
    """
    if spread is None or count < 2 or not math.isfinite(spread):
        return None
    distance = math.log1p(effect) - math.log1p(margin)
    if spread == 0:
        return float(distance > 0)
    return upper_tail(upper_quantile(alarm_rate, count - 1) - distance * math.sqrt(count) / spread, count - 1)
