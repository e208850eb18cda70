"""The detectable effect: closed form, edges, and whether the test really finds it."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.stats.detectable import detectable_slowdown, detection_power
from solwatch.stats.moments import moments
from solwatch.stats.student import upper_quantile, upper_tail

RATES = {"margin": 0.003, "alarm_rate": 0.001, "miss_rate": 0.01}


def test_closed_form() -> None:
    # Two degrees of freedom: t_p = (1 - 2p) sqrt(2 / (4 p (1 - p))).
    def t(tail: float) -> float:
        return (1 - 2 * tail) * math.sqrt(2 / (4 * tail * (1 - tail)))

    wanted = math.expm1(math.log1p(0.003) + (t(0.001) + t(0.01)) * 0.004 / math.sqrt(3))
    assert detectable_slowdown(0.004, 3, **RATES) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(("spread", "count"), [(None, 10), (0.01, 1), (0.01, 0), (math.inf, 5), (math.nan, 5)])
def test_nothing_can_be_said_without_a_spread(spread: float | None, count: int) -> None:
    assert detectable_slowdown(spread, count, **RATES) is None


def test_without_noise_it_is_the_margin() -> None:
    assert detectable_slowdown(0.0, 5, **RATES) == pytest.approx(0.003)


def test_beyond_any_slowdown_it_is_infinite() -> None:
    assert detectable_slowdown(50.0, 2, **RATES) == math.inf


@given(st.floats(min_value=1e-4, max_value=0.05), st.integers(min_value=3, max_value=30))
def test_more_rounds_and_less_noise_see_more(spread: float, count: int) -> None:
    here = detectable_slowdown(spread, count, **RATES)
    more_rounds = detectable_slowdown(spread, count + 1, **RATES)
    noisier = detectable_slowdown(spread * 1.5, count, **RATES)
    assert here is not None
    assert more_rounds is not None
    assert noisier is not None
    assert 0.003 < more_rounds < here < noisier


def test_a_slowdown_of_that_size_is_found_as_often_as_promised() -> None:
    dice = random.Random(5)
    spread, count, alarm_rate = 0.004, 12, 0.001
    effect = detectable_slowdown(spread, count, margin=0.003, alarm_rate=alarm_rate, miss_rate=0.1)
    assert effect is not None
    found = 0
    for _ in range(1000):
        seen = moments([dice.gauss(math.log1p(effect), spread) for _ in range(count)])
        assert seen is not None
        assert seen.standard_error is not None
        found += upper_tail((seen.mean - math.log(1.003)) / seen.standard_error, count - 1) <= alarm_rate
    # 900 promised; the approximation may miss a few per cent of that.
    assert found >= 850


@pytest.mark.parametrize("tail", [0.0, 1.0, -1.0])
def test_a_tail_outside_its_domain_is_refused(tail: float) -> None:
    with pytest.raises(ValueError, match="tail"):
        upper_quantile(tail, 5)


@given(st.floats(min_value=1e-4, max_value=0.05), st.integers(min_value=3, max_value=30))
def test_the_power_at_the_mde_is_what_the_mde_promises(spread: float, count: int) -> None:
    mde = detectable_slowdown(spread, count, **RATES)
    assert mde is not None
    asked = {"margin": RATES["margin"], "alarm_rate": RATES["alarm_rate"]}
    assert detection_power(spread, count, effect=mde, **asked) == pytest.approx(1 - RATES["miss_rate"], rel=1e-6)
    # At the margin itself it is the rate of false alarms.
    assert detection_power(spread, count, effect=0.003, **asked) == pytest.approx(RATES["alarm_rate"], rel=1e-6)


@pytest.mark.parametrize(("spread", "count"), [(None, 10), (0.01, 1), (math.inf, 5), (math.nan, 5)])
def test_no_power_without_a_spread_and_all_of_it_without_noise(spread: float | None, count: int) -> None:
    assert detection_power(spread, count, effect=0.01, margin=0.003, alarm_rate=0.001) is None
    assert detection_power(0.0, 5, effect=0.01, margin=0.003, alarm_rate=0.001) == 1
    assert detection_power(0.0, 5, effect=0.003, margin=0.003, alarm_rate=0.001) == 0
