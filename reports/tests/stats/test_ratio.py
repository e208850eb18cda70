"""Estimates of ratios: closed form, degenerate rounds, properties."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.stats.ratio import ratio_estimate, time_estimate

logs = st.floats(min_value=-0.5, max_value=0.5)


def test_is_the_textbook_interval_on_the_log_scale() -> None:
    rounds = [0.01, 0.03, 0.02]
    estimate = ratio_estimate(rounds, 0.95)
    assert estimate is not None
    # Student's t, 2 degrees of freedom, two-sided 95 %: 4.302653; standard error 0.01 / sqrt(3).
    reach = 4.302652729911275 * 0.01 / math.sqrt(3)
    assert estimate.point == pytest.approx(math.exp(0.02))
    assert estimate.low == pytest.approx(math.exp(0.02 - reach))
    assert estimate.high == pytest.approx(math.exp(0.02 + reach))
    assert (estimate.level, estimate.count) == (0.95, 3)


def test_one_round_has_a_point_and_no_interval() -> None:
    estimate = ratio_estimate([math.log(1.1)], 0.95)
    assert estimate is not None
    assert estimate.point == pytest.approx(1.1)
    assert (estimate.low, estimate.high, estimate.count) == (None, None, 1)


def test_equal_rounds_have_an_interval_without_width() -> None:
    estimate = ratio_estimate([0.05] * 4, 0.95)
    assert estimate is not None
    assert estimate.low == estimate.high == estimate.point


@pytest.mark.parametrize("rounds", [[], [0.0, math.nan], [math.inf, 0.0], [-math.inf]])
def test_no_rounds_or_one_that_is_not_finite_has_no_estimate(rounds: list[float]) -> None:
    assert ratio_estimate(rounds, 0.95) is None


def test_two_modes_give_an_interval_that_holds_both() -> None:
    estimate = ratio_estimate([0.0, 0.125] * 4, 0.95)
    assert estimate is not None
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < math.exp(0.0625) < estimate.high
    assert estimate.high - estimate.low > 0.1


def test_wild_rounds_give_an_infinite_end_instead_of_an_error() -> None:
    estimate = ratio_estimate([-400.0, 400.0], 0.999)
    assert estimate is not None
    assert estimate.high == math.inf
    assert estimate.low == 0.0


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_outside_its_domain_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        ratio_estimate([0.0, 0.1], level)


@given(st.lists(logs, min_size=1, max_size=20), st.randoms())
def test_order_of_rounds_does_not_matter(rounds: list[float], dice: random.Random) -> None:
    shuffled = list(rounds)
    dice.shuffle(shuffled)
    first, second = ratio_estimate(rounds, 0.9), ratio_estimate(shuffled, 0.9)
    assert first is not None
    assert second is not None
    assert second.point == pytest.approx(first.point, rel=1e-12)


@given(st.lists(logs, min_size=2, max_size=20))
def test_swapping_the_sides_mirrors_the_estimate(rounds: list[float]) -> None:
    there, back = ratio_estimate(rounds, 0.9), ratio_estimate([-value for value in rounds], 0.9)
    assert there is not None
    assert back is not None
    assert there.low is not None
    assert back.high is not None
    assert back.point == pytest.approx(1 / there.point, rel=1e-9)
    assert back.high == pytest.approx(1 / there.low, rel=1e-9)


@given(st.lists(logs, min_size=2, max_size=20), st.floats(min_value=0.5, max_value=2.0))
def test_a_common_factor_scales_point_and_interval(rounds: list[float], factor: float) -> None:
    plain = ratio_estimate(rounds, 0.9)
    scaled = ratio_estimate([value + math.log(factor) for value in rounds], 0.9)
    assert plain is not None
    assert scaled is not None
    assert plain.high is not None
    assert scaled.point == pytest.approx(factor * plain.point, rel=1e-6)
    assert scaled.high == pytest.approx(factor * plain.high, rel=1e-6)


def test_the_interval_covers_at_its_level() -> None:
    dice = random.Random(7)
    covered = 0
    for _ in range(2000):
        estimate = ratio_estimate([dice.gauss(0.02, 0.01) for _ in range(6)], 0.9)
        assert estimate is not None
        assert estimate.low is not None
        assert estimate.high is not None
        covered += estimate.low <= math.exp(0.02) <= estimate.high
    # 1800 expected, standard deviation 13.4: four of them either way.
    assert 1746 <= covered <= 1854


def test_times_are_averaged_so_that_the_ratio_of_estimates_is_the_estimate_of_the_ratio() -> None:
    head, base = [2.0, 4.0, 9.0], [1.0, 3.0, 3.0]
    ratio = ratio_estimate([math.log(one / other) for one, other in zip(head, base, strict=True)], 0.9)
    above, below = time_estimate(head, 0.9), time_estimate(base, 0.9)
    assert ratio is not None
    assert above is not None
    assert below is not None
    assert ratio.point == pytest.approx(above.point / below.point)


@pytest.mark.parametrize("times", [[], [0.0, 1.0], [-1.0], [math.inf], [math.nan]])
def test_times_that_are_no_times_have_no_estimate(times: list[float]) -> None:
    assert time_estimate(times, 0.9) is None
