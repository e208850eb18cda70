"""The robust spread of one block's samples."""

import math
import statistics
from collections.abc import Iterable


def middle_spread(samples: Iterable[float]) -> float | None:
    """Return half of the distance between the 16th and the 84th percentile, in the unit of the samples.

    For a bell curve that is its standard deviation; a few far outliers do not move it. Samples that are NaN or
    infinite are dropped; ``None`` when fewer than two are left.
    """
    kept = [sample for sample in samples if math.isfinite(sample)]
    if len(kept) < 2:
        return None
    every_fourth = statistics.quantiles(kept, n=25, method="inclusive")
    return (every_fourth[20] - every_fourth[3]) / 2
