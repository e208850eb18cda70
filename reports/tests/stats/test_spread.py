"""The robust spread of one block's samples."""

import math
from statistics import NormalDist

import pytest

from solwatch.stats.spread import middle_spread


def test_of_a_bell_curve_it_is_the_standard_deviation() -> None:
    samples = [NormalDist(20e-6, 50e-9).inv_cdf((number + 0.5) / 1000) for number in range(1000)]
    assert middle_spread(samples) == pytest.approx(50e-9, rel=0.01)
    assert middle_spread([*samples, 1.0, math.inf, math.nan]) == pytest.approx(50e-9, rel=0.01)


@pytest.mark.parametrize(("samples", "spread"), [([], None), ([3.0], None), ([3.0, math.nan], None), ([3.0] * 9, 0.0)])
def test_degenerate_samples(samples: list[float], spread: float | None) -> None:
    assert middle_spread(samples) == spread
