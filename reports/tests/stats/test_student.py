"""Student's t against scipy's, which is not exact itself very near to 0 and very far out."""

import math

import pytest
import scipy.special
from hypothesis import example, given
from hypothesis import strategies as st

from solwatch.stats.student import upper_quantile, upper_tail

DEGREES = st.integers(1, 60)


@given(t=st.floats(1e-3, 1e3), degrees=DEGREES)
@example(t=1.0, degrees=1)
@example(t=math.nextafter(1.0, 2.0), degrees=43)
def test_the_tail_is_scipys(t: float, degrees: int) -> None:
    assert upper_tail(t, degrees) == pytest.approx(float(scipy.special.stdtr(degrees, -t)), rel=1e-9)
    assert upper_tail(-t, degrees) == pytest.approx(float(scipy.special.stdtr(degrees, t)), rel=1e-12)


@given(tail=st.floats(1e-12, 0.5, exclude_max=True), degrees=DEGREES)
def test_the_quantile_has_that_tail(tail: float, degrees: int) -> None:
    t = upper_quantile(tail, degrees)
    assert upper_tail(t, degrees) == pytest.approx(tail, rel=1e-9)
    assert t == pytest.approx(float(-scipy.special.stdtrit(degrees, tail)), rel=1e-6, abs=1e-6)
    assert upper_quantile(1 - tail, degrees) == pytest.approx(-t, rel=1e-3, abs=1e-6)


def test_the_ends() -> None:
    assert (upper_tail(0.0, 5), upper_tail(math.inf, 5), upper_tail(-math.inf, 5)) == (0.5, 0.0, 1.0)
    assert math.isnan(upper_tail(math.nan, 5))
    assert upper_quantile(0.5, 5) == pytest.approx(0.0, abs=1e-12)
    for tail in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="wanted 0 < tail < 1"):
            upper_quantile(tail, 5)
