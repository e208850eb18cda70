"""The robust centre: closed form, degenerate samples, properties."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.stats.centre import trimmed_mean

times = st.floats(min_value=1e-9, max_value=10.0)


def test_cuts_a_fifth_at_each_end() -> None:
    assert trimmed_mean([100.0, 1.0, 2.0, 3.0, -50.0]) == pytest.approx(2.0)


def test_rounds_the_cut_down_so_that_four_samples_are_averaged_whole() -> None:
    assert trimmed_mean([1.0, 2.0, 3.0, 10.0]) == pytest.approx(4.0)


def test_moves_by_less_than_a_timer_step_where_a_median_jumps_by_a_whole_one() -> None:
    step = 32e-9
    lower = [18e-6] * 11 + [18e-6 + step] * 9
    upper = [18e-6] * 9 + [18e-6 + step] * 11
    low, high = trimmed_mean(lower), trimmed_mean(upper)
    assert low is not None
    assert high is not None
    assert 0 < high - low < 0.3 * step


@pytest.mark.parametrize("samples", [[], [math.nan], [math.inf, -math.inf, math.nan]])
def test_no_finite_sample_has_no_centre(samples: list[float]) -> None:
    assert trimmed_mean(samples) is None


def test_one_sample_is_its_own_centre() -> None:
    assert trimmed_mean([3.5]) == 3.5


def test_equal_samples_give_exactly_that_sample() -> None:
    assert trimmed_mean([0.1] * 7) == 0.1


def test_samples_that_are_not_finite_are_dropped_before_the_cut() -> None:
    assert trimmed_mean([1.0, 2.0, 3.0, math.nan, math.inf]) == pytest.approx(2.0)


def test_two_modes_give_a_value_between_them() -> None:
    centre = trimmed_mean([22.5e-3] * 10 + [25.5e-3] * 10)
    assert centre == pytest.approx(24e-3)


@pytest.mark.parametrize("trim", [-0.1, 0.5, 1.0])
def test_a_trim_outside_its_domain_is_refused(trim: float) -> None:
    with pytest.raises(ValueError, match="trim_fraction"):
        trimmed_mean([1.0], trim)


@given(st.lists(times, min_size=1, max_size=40), st.randoms())
def test_order_does_not_matter(samples: list[float], dice: random.Random) -> None:
    shuffled = list(samples)
    dice.shuffle(shuffled)
    assert trimmed_mean(shuffled) == trimmed_mean(samples)


@given(st.lists(times, min_size=1, max_size=40))
def test_lies_within_the_samples(samples: list[float]) -> None:
    centre = trimmed_mean(samples)
    assert centre is not None
    assert min(samples) <= centre <= max(samples)


@given(st.lists(times, min_size=1, max_size=40), st.floats(min_value=1e-3, max_value=1e3))
def test_scales_with_its_samples(samples: list[float], factor: float) -> None:
    centre = trimmed_mean(samples)
    assert centre is not None
    assert trimmed_mean([factor * sample for sample in samples]) == pytest.approx(factor * centre, rel=1e-9)


@given(st.lists(times, min_size=10, max_size=40), st.floats(min_value=10.0, max_value=1e6))
def test_one_wild_sample_does_not_pull_it_beyond_the_others(samples: list[float], wild: float) -> None:
    centre = trimmed_mean([*samples, wild])
    assert centre is not None
    assert centre <= max(samples)
