"""One-sided tests against a margin: closed form, degenerate rounds, properties."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.stats.margin import p_above, p_below

logs = st.floats(min_value=-0.5, max_value=0.5)
rounds_of_logs = st.lists(logs, min_size=2, max_size=20)


def test_is_the_textbook_p_value() -> None:
    # mean 0.02, standard error 0.01 / sqrt(3): t = 2 sqrt(3). For two degrees of freedom
    # P(T >= t) = (1 - t / sqrt(2 + t^2)) / 2.
    t = 2 * math.sqrt(3)
    assert p_above([0.01, 0.03, 0.02], 1.0) == pytest.approx((1 - t / math.sqrt(2 + t * t)) / 2, rel=1e-9)


def test_at_the_limit_itself_nothing_speaks_either_way() -> None:
    limit = math.exp(0.02)
    assert p_above([0.01, 0.03, 0.02], limit) == pytest.approx(0.5)
    assert p_below([0.01, 0.03, 0.02], limit) == pytest.approx(0.5)


@pytest.mark.parametrize("rounds", [[], [0.5], [0.5, math.nan], [0.5, math.inf]])
def test_no_evidence_gives_one(rounds: list[float]) -> None:
    assert p_above(rounds, 1.0) == 1.0
    assert p_below(rounds, 1.0) == 1.0


def test_equal_rounds_decide_by_which_side_they_lie_on() -> None:
    assert p_above([0.05] * 3, 1.01) == 0.0
    assert p_above([0.0] * 3, 1.01) == 1.0
    assert p_below([0.0] * 3, 1.01) == 0.0
    assert p_above([0.0] * 3, 1.0) == 1.0


@pytest.mark.parametrize("limit", [0.0, -1.0, math.inf, math.nan])
def test_a_limit_that_is_no_ratio_is_refused(limit: float) -> None:
    with pytest.raises(ValueError, match="ratio_limit"):
        p_above([0.0, 0.1], limit)
    with pytest.raises(ValueError, match="ratio_limit"):
        p_below([0.0, 0.1], limit)


@given(rounds_of_logs, st.floats(min_value=0.8, max_value=1.25))
def test_the_two_directions_mirror_each_other(rounds: list[float], limit: float) -> None:
    assert p_below(rounds, limit) == pytest.approx(p_above([-value for value in rounds], 1 / limit), abs=1e-12)


@given(rounds_of_logs, st.floats(min_value=0.8, max_value=1.2), st.floats(min_value=0.001, max_value=0.2))
def test_a_higher_limit_is_never_easier_to_exceed(rounds: list[float], limit: float, more: float) -> None:
    assert p_above(rounds, limit + more) >= p_above(rounds, limit)


@given(rounds_of_logs, st.floats(min_value=0.001, max_value=0.3))
def test_a_slower_head_never_has_a_larger_p_value(rounds: list[float], more: float) -> None:
    assert p_above([value + more for value in rounds], 1.0) <= p_above(rounds, 1.0) + 1e-9


def test_is_uniform_at_the_limit() -> None:
    dice = random.Random(11)
    found = [p_above([dice.gauss(math.log(1.003), 0.004) for _ in range(8)], 1.003) for _ in range(2000)]
    below = sum(p_value <= 0.1 for p_value in found)
    # 200 expected, standard deviation 13.4: four of them either way.
    assert 146 <= below <= 254
