"""Holm's adjustment: by hand, at its edges, and as a family's error rate."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.stats.holm import holm

families = st.dictionaries(st.text(max_size=3), st.floats(min_value=0, max_value=1), max_size=12)


def test_by_hand() -> None:
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03})
    assert adjusted == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})


def test_a_larger_family_makes_it_harder() -> None:
    assert holm({"a": 0.01}, family=24)["a"] == pytest.approx(0.24)
    assert holm({"a": 0.01, "b": 0.02}, family=1) == pytest.approx({"a": 0.02, "b": 0.02})


def test_an_empty_family_is_empty() -> None:
    assert holm({}) == {}
    assert holm({}, family=5) == {}


@pytest.mark.parametrize("p_value", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(p_value: float) -> None:
    with pytest.raises(ValueError, match="p-value of a"):
        holm({"a": p_value})


@given(families)
def test_lies_between_the_plain_and_the_bonferroni_value(p_values: dict[str, float]) -> None:
    for name, adjusted in holm(p_values).items():
        assert p_values[name] <= adjusted <= min(1.0, len(p_values) * p_values[name]) or adjusted == 1.0


@given(families)
def test_keeps_the_order_of_evidence(p_values: dict[str, float]) -> None:
    adjusted = holm(p_values)
    by_evidence = sorted(p_values, key=lambda name: p_values[name])
    assert [adjusted[name] for name in by_evidence] == sorted(adjusted.values())


@given(families)
def test_keeps_the_keys_in_their_order(p_values: dict[str, float]) -> None:
    assert list(holm(p_values)) == list(p_values)


def test_holds_the_rate_of_a_family_in_which_nothing_is_there() -> None:
    dice = random.Random(3)
    alarms = sum(min(holm({str(index): dice.random() for index in range(24)}).values()) <= 0.05 for _ in range(2000))
    # At most 100 expected, standard deviation 9.7.
    assert 60 <= alarms <= 139
