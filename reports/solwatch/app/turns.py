"""How many turns a cell takes in a round, and how long its blocks are: as its own scatter asks for.

Noise inside a round is bought off with turns, and cells differ in it by a factor of ten: an equal number for all
leaves some cells undecided and bores the others. Only the size of what differs between the sides counts here, never
its sign, so that the number of turns tells nothing of which side is the slower.
"""

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Sequence

from solwatch.model.record import Block

FEWEST_TURNS, FEWEST_OF_LONG_CALLS, MOST_TURNS = 2, 6, 12
WANTED_SPREAD = 0.002
"""Standard deviation, as a share of the time, that the turns of one round are to leave in its ratio."""

LONG_CALL_S = 200e-6
LONG_BLOCK_S = 6e-3
"""Calls this long draw so much power that a GPU's clock wanders, by 8 % within 20 to 100 ms. Both sides see the same
clock when their blocks are short and follow each other closely, and the turn in which it jumps is an odd one out when
there are some more."""

_MEDIAN_OF_NORMAL = statistics.NormalDist().inv_cdf(0.75)


class Turns:
    """The turns of each cell over the rounds of a run."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._steps: defaultdict[str, list[float]] = defaultdict(list)

    def of(self, key: str, call_s: float, *, first: int) -> int:
        """Return the turns of ``key`` in the round that begins.

        ``call_s``: seconds of one call. ``first``: turns of a short call of which nothing is known yet.
        """
        steps = self._steps[key]
        if not steps:
            return MOST_TURNS if call_s >= LONG_CALL_S else first
        # The median: a block in which something else happened must not cost every round after it.
        spread = statistics.median(steps) / _MEDIAN_OF_NORMAL / math.sqrt(2)
        pairs = math.ceil((spread / WANTED_SPREAD) ** 2 / 2)
        fewest = FEWEST_OF_LONG_CALLS if call_s >= LONG_CALL_S else FEWEST_TURNS
        return max(fewest, min(2 * pairs, MOST_TURNS))  # even: each side goes first equally often

    def note(self, key: str, *sides: Sequence[Block]) -> None:
        """Learn from a round: how much the log ratio of its two sides changes from one turn to the next.

        With one side alone there is nothing to learn, nor where blocks were measured again or a side failed: which
        of them belong together is not known then.
        """
        if len(sides) != 2 or len(sides[0]) != len(sides[1]):
            return
        means = [(_mean(one), _mean(two)) for one, two in zip(*sides, strict=True)]
        ratios = [math.log(one / two) for one, two in means if one > 0 and two > 0]
        self._steps[key] += [abs(two - one) for one, two in itertools.pairwise(ratios)]


def block_s(wanted_s: float, call_s: float) -> float:
    """Return the length of a block: ``wanted_s``, less for long calls."""
    return min(wanted_s, LONG_BLOCK_S) if call_s >= LONG_CALL_S else wanted_s


def _mean(block: Block) -> float:
    return statistics.fmean(block.samples_s) if block.samples_s else 0.0
