"""Figures as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.render.units import ABSENT, change, clock_time, detectable, percentage, quantity, scaled


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (18.24e-6, "s", "18.24 µs"),
        (1.35e-3, "s", "1.350 ms"),
        (9.99996e-6, "s", "10.00 µs"),
        (999.96e-6, "s", "1.000 ms"),
        (3.2e-9, "s", "3.200 ns"),
        (5e-13, "s", "0.0005000 ns"),
        (0.0, "s", "0 s"),
        (785e12, "FLOP/s", "785.0 TFLOP/s"),
        (1.07e15, "FLOP/s", "1.070 PFLOP/s"),
        (-2e-3, "J", "-2.000 mJ"),
        (12345e15, "B", "12345 PB"),
    ],
)
def test_si_figures_get_a_prefix_and_four_digits(value: float, unit: str, text: str) -> None:
    assert scaled(value, unit) == text


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_not_known_is_absent_and_never_zero(value: float | None) -> None:
    assert scaled(value, "s") == ABSENT
    assert percentage(value) == ABSENT
    assert change(value) == ABSENT
    assert quantity(value, "seconds") == ABSENT
    assert quantity(value, "bytes") == ABSENT


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.0231, "+2.31 %"), (0.95, "−5.00 %"), (1.0, "0.00 %"), (0.999999, "0.00 %"), (6.412, "6.41×"), (0.25, "0.250×")],
)
def test_a_slowdown_ratio_is_a_signed_change_or_a_multiple(ratio: float, text: str) -> None:
    assert change(ratio) == text


@pytest.mark.parametrize(
    ("ratio", "point", "text"),
    [(2.31, 1.6, "+131.00 %"), (0.4, 0.7, "−60.00 %"), (1.8, 2.4, "1.80×"), (0.6, 0.4, "0.600×")],
)
def test_an_interval_s_ends_are_written_as_its_point_is(ratio: float, point: float, text: str) -> None:
    assert change(ratio, point) == text


def test_percentages_keep_three_digits() -> None:
    assert [percentage(value) for value in (0.3141, 0.00025, 1.0, 0.0)] == ["31.4 %", "0.0250 %", "100 %", "0 %"]


def test_other_units_are_left_as_the_benchmark_names_them() -> None:
    assert quantity(123456.0, "lines") == "1.2346e+05 lines"
    assert quantity(12345.0, "lines") == "12,345 lines"
    assert quantity(123456789.0, "bytes") == "123.5 MB"
    assert quantity(2e-3, "seconds") == "2.000 ms"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (-4, "0:00"), (59.6, "1:00"), (125, "2:05"), (3725, "1:02:05")]
)
def test_durations_read_like_a_clock(seconds: float, text: str) -> None:
    assert clock_time(seconds) == text


@given(st.floats(min_value=1e-9, max_value=1e15))
def test_a_scaled_figure_reads_back_within_its_digits(value: float) -> None:
    number, unit = scaled(value, "s").split(" ")
    factor = {"P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1, "m": 1e-3, "µ": 1e-6, "n": 1e-9}[unit[:-1]]
    assert float(number) * factor == pytest.approx(value, rel=6e-4)
    assert len(number.replace(".", "").lstrip("0")) <= 4


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(0.312, "31.2 %"), (10.0, "1000 %"), (10.01, "> 1000 %"), (math.inf, "> 1000 %"), (None, ABSENT)],
)
def test_an_effect_that_only_a_gross_slowdown_reaches_is_said_to_be_large(fraction: float | None, text: str) -> None:
    assert detectable(fraction) == text
