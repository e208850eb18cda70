"""A test by betting on signs: exact when each value's sign is a fair coin, whatever the magnitudes are.

Before a value's sign is looked at a share of the wealth, which may depend on its magnitude and on the past, is put on
"positive". If the sign is a fair coin, wealth is a martingale that starts at 1: it ever reaches c with probability at
most 1 / c (Ville). A bet that never falls as the value grows keeps that for values whose distribution lies below a
symmetric one. Sources: Ville 1939; Shafer and Vovk, Game-Theoretic Foundations, 2019; the form of the bet is the
likelihood ratio of a shifted Student t against its mirror image.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

DEGREES = 4.0
"""Of the t that the bet has in mind: heavy tails, so that one wild value is no reason to stake everything."""

MOST = 0.98
"""Largest share of the wealth that is put on one sign: a single wrong one leaves 2 %."""


@dataclass(frozen=True)
class Bet:
    """What is expected of the values if the claim is true: their ``shift`` and ``scale``, both above 0."""

    shift: float
    scale: float

    def stake(self, value: float) -> float:
        """Return the share of the wealth won by ``value``, negative for a loss; odd and never falling in it."""
        # The likelihood ratio falls again beyond this magnitude; there the stake stays where it was.
        turn = math.sqrt(DEGREES * self.scale**2 + self.shift**2)
        magnitude = min(abs(value), turn)
        reach = DEGREES * self.scale**2
        ratio = ((reach + (magnitude + self.shift) ** 2) / (reach + (magnitude - self.shift) ** 2)) ** (
            (DEGREES + 1) / 2
        )
        return math.copysign(min((ratio - 1) / (ratio + 1), MOST), value)


def fewest_values(rate: float) -> int:
    """Return how many values, all positive and as large as can be, it takes until wealth is 1 / ``rate``."""
    return math.ceil(math.log(1 / rate) / math.log1p(MOST))


def wealth(values: Iterable[float], bet: Bet) -> list[float]:
    """Return the wealth after each value, from 1; 0 and NaN have no sign and change nothing."""
    held, path = 1.0, []
    for value in values:
        held *= 1 + (bet.stake(value) if abs(value) > 0 else 0.0)
        path.append(held)
    return path
