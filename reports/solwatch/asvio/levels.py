"""Which of the levels that asv's step detection finds differ enough to be a change."""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LEAST_RESULTS = 2
"""Results that a level needs: a lone value that differs is an outlier until the next one agrees."""


class Level(NamedTuple):
    """A stretch of equal values: ``start`` inclusive, ``end`` exclusive, in results; ``error``: asv's estimate."""

    start: int
    end: int
    value: float
    least: float
    error: float


def changes(levels: Sequence[Level], least_change: float) -> Iterator[tuple[Level, Level]]:
    """Yield each two levels between which the value changes by more than ``least_change`` and than their errors.

    ``least_change``: 0.02 is 2 % of the earlier one.
    """
    counting = [level for level in levels if level.end - level.start >= LEAST_RESULTS]
    for earlier, later in itertools.pairwise(counting):
        change = abs(later.value - earlier.value)
        if change > least_change * earlier.value and change > max(earlier.error, later.error):
            yield earlier, later
