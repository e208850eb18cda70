"""The robust centre of one block's samples."""

import math
from collections.abc import Iterable
from itertools import repeat
from operator import truediv

TRIM_FRACTION = 0.2
"""Share of the sorted samples cut at each end. Events come in steps of 32 ns, so a median moves by whole steps."""


def trimmed_mean(samples: Iterable[float], trim_fraction: float = TRIM_FRACTION) -> float | None:
    """Return the mean of the samples left after cutting ``trim_fraction`` of them at each end.

    The number cut at each end is rounded down: fewer than five samples are averaged whole at 20 %. Samples
    that are NaN or infinite are dropped before anything is cut. ``None`` when no sample is left. In the unit
    of the samples. Raises ``ValueError`` for a trim outside [0, 0.5).
    """
    if not 0 <= trim_fraction < 0.5:
        raise ValueError(f"trim_fraction is {trim_fraction}, wanted 0 <= trim_fraction < 0.5")
    kept = sorted(filter(math.isfinite, samples))
    if not kept:
        return None
    cut = math.floor(trim_fraction * len(kept))
    middle = kept[cut : len(kept) - cut]
    # Divided first: the sum of samples near the largest float would overflow, their mean can't.
    mean = math.fsum(map(truediv, middle, repeat(len(middle))))
    # A mean of equal samples may differ from them in the last bit; a centre never leaves its samples.
    return min(max(mean, middle[0]), middle[-1])
