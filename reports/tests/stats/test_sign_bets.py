"""Bets on signs: exact on symmetric noise of any shape, by counting all patterns of signs; the stake's properties."""

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.stats.sign_bets import MOST, Bet, fewest_values, wealth

scales = st.floats(min_value=1e-6, max_value=1.0)
bets = st.builds(Bet, shift=scales, scale=scales)
values = st.floats(min_value=-10.0, max_value=10.0)
magnitudes = st.lists(st.floats(min_value=1e-9, max_value=10.0), min_size=1, max_size=8)


def every_path(sizes: list[float], bet: Bet, shift: float = 0.0) -> list[list[float]]:
    """Return the wealth along each of the 2^n patterns of signs, which a fair coin makes equally likely."""
    patterns = itertools.product((1, -1), repeat=len(sizes))
    return [wealth([sign * size + shift for sign, size in zip(signs, sizes, strict=True)], bet) for signs in patterns]


@given(magnitudes, bets)
def test_wealth_stays_at_one_on_average_whatever_the_magnitudes_and_the_bet(sizes: list[float], bet: Bet) -> None:
    paths = every_path(sizes, bet)
    for after in range(len(sizes)):
        assert math.fsum(path[after] for path in paths) / len(paths) == pytest.approx(1.0)


@given(magnitudes, bets, st.floats(min_value=1.01, max_value=500.0))
def test_a_wealth_is_ever_reached_no_more_often_than_its_inverse(sizes: list[float], bet: Bet, reached: float) -> None:
    paths = every_path(sizes, bet)
    assert sum(max(path) >= reached for path in paths) / len(paths) <= 1 / reached * (1 + 1e-9)


@given(magnitudes, bets, st.floats(min_value=0.0, max_value=5.0))
def test_noise_around_less_than_nothing_never_gains(sizes: list[float], bet: Bet, below: float) -> None:
    paths = every_path(sizes, bet, shift=-below)
    for after in range(len(sizes)):
        assert math.fsum(path[after] for path in paths) / len(paths) <= 1 + 1e-9


@given(values, values, bets)
def test_the_stake_is_odd_bounded_and_never_falls(first: float, second: float, bet: Bet) -> None:
    low, high = sorted((first, second))
    assert bet.stake(-first) == -bet.stake(first)
    assert -MOST <= bet.stake(low) <= bet.stake(high) + 1e-12 <= MOST + 1e-12


@given(values, bets, st.floats(min_value=1e-3, max_value=1e3))
def test_the_unit_does_not_matter(value: float, bet: Bet, unit: float) -> None:
    scaled = Bet(shift=bet.shift * unit, scale=bet.scale * unit)
    assert scaled.stake(value * unit) == pytest.approx(bet.stake(value), abs=1e-9)


@given(st.lists(values, max_size=12), bets, st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter_in_the_end(found: list[float], bet: Bet, dice: random.Random) -> None:
    shuffled = list(found)
    dice.shuffle(shuffled)
    assert wealth(shuffled, bet)[-1:] == pytest.approx(wealth(found, bet)[-1:])


def test_what_has_no_sign_changes_nothing_and_what_is_infinite_is_bounded() -> None:
    bet = Bet(shift=0.01, scale=0.01)
    assert wealth([0.0, -0.0, math.nan], bet) == [1.0, 1.0, 1.0]
    assert 1 < wealth([math.inf], bet)[0] <= 1 + MOST
    assert 1 - MOST - 1e-12 <= wealth([-math.inf], bet)[0] < 1
    assert wealth([], bet) == []


def test_one_wild_value_is_no_reason_to_stake_more_than_on_a_likely_one() -> None:
    bet = Bet(shift=0.01, scale=0.01)
    assert bet.stake(100.0) == bet.stake(1.0) < 0.95


@pytest.mark.parametrize(("rate", "count"), [(0.01, 7), (0.5, 2), (0.001, 11)])
def test_the_fewest_values_that_can_confirm(rate: float, count: int) -> None:
    sure = Bet(shift=1.0, scale=1e-6)
    assert fewest_values(rate) == count
    assert wealth([1.0] * count, sure)[-1] >= 1 / rate > wealth([1.0] * (count - 1), sure)[-1]
