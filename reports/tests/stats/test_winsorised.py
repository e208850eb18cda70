"""Winsorised moments and two heaps: by hand, degenerate, properties."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.stats.modes import two_modes
from solwatch.stats.winsorised import winsorised, winsorised_moments

lists = st.lists(st.floats(min_value=-1.0, max_value=1.0), min_size=1, max_size=20)


def test_a_far_value_is_pulled_in_to_three_robust_deviations() -> None:
    # The median is 4.5, the median distance from it 2.
    calm = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert winsorised([*calm, 100.0]) == [*calm, pytest.approx(4.5 + 3 * 1.4826 * 2)]


def test_where_more_than_one_in_eight_lie_far_out_that_is_the_noise_and_counts() -> None:
    few = [0.76, 0.71, -0.74, 0.72, 0.7]
    assert winsorised(few) == few
    heaps = [0.01, 0.011, 0.012, 0.013, 0.014, 0.015, -0.01, -0.011]
    assert winsorised(heaps) == heaps


def test_one_wild_round_can_not_move_the_mean_far() -> None:
    calm, wild = (winsorised_moments([*[-0.001, 0.0, 0.001, 0.002] * 2, last]) for last in (0.0015, 50.0))
    assert calm is not None
    assert wild is not None
    assert abs(wild.mean - calm.mean) < 0.002


@pytest.mark.parametrize("values", [[], [math.nan], [0.0, math.inf], [1.0, -math.inf]])
def test_nothing_is_made_of_nothing_or_of_what_is_not_finite(values: list[float]) -> None:
    assert winsorised_moments(values) is None


def test_one_value_has_no_spread_and_equal_ones_have_none_to_speak_of() -> None:
    one, equal = winsorised_moments([0.5]), winsorised_moments([0.5] * 4)
    assert one is not None
    assert equal is not None
    assert (one.mean, one.spread) == (0.5, None)
    assert (equal.mean, equal.spread, equal.count) == (0.5, 0.0, 4)


def test_where_most_are_equal_the_others_stay_what_they_are() -> None:
    assert winsorised([*[0.3] * 8, 5.0]) == [*[0.3] * 8, 5.0]
    nearly = [0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2, 0.1 + 0.2, 0.3, 5.0]
    assert winsorised(nearly) == nearly


@given(lists, st.randoms(use_true_random=False))
def test_order_does_not_matter(values: list[float], dice: random.Random) -> None:
    shuffled = list(values)
    dice.shuffle(shuffled)
    assert sorted(winsorised(shuffled)) == sorted(winsorised(values))
    assert two_modes(shuffled) == two_modes(values)


@given(lists)
def test_the_mirror_image_is_mirrored(values: list[float]) -> None:
    assert winsorised([-value for value in values]) == pytest.approx([-value for value in winsorised(values)])


def test_two_heaps_are_seen_and_one_is_not() -> None:
    dice = random.Random(3)
    heaps = [dice.gauss(0.01 * (index % 2), 0.0005) for index in range(16)]
    assert two_modes(heaps)
    assert not any(two_modes([dice.gauss(0, 1) for _ in range(16)]) for _ in range(200))


@pytest.mark.parametrize("values", [[], [1.0] * 20, [0.0, 1.0] * 3, [0.0] * 15 + [1.0]])
def test_too_few_equal_ones_and_a_lone_one_are_no_two_heaps(values: list[float]) -> None:
    assert not two_modes(values)
