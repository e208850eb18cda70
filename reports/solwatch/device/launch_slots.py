"""Launch slots: what comes right after a launch is timed up to 1 µs longer in one of four slots than in another.

Slots are taken in turn by whatever is launched. Left to itself, a loop whose samples have a multiple of four launches
always meets the same slot, and the next process another. Here every four samples meet every slot once.
"""

import random
from collections import defaultdict

SLOTS = 4
"""Seen on an H200: times between two events repeat with every fourth launch."""


class LaunchSlots:
    """Counts launches and says how many must be slipped in so that what follows starts in the slot that is due."""

    def __init__(self, seed: int) -> None:
        """Begin with nothing launched; ``seed`` draws the orders in which slots are due."""
        self._random = random.Random(seed)
        self._launched = 0
        self._due: defaultdict[str, list[int]] = defaultdict(list)

    def launched(self, count: int) -> None:
        """Note ``count`` launches."""
        self._launched += count

    def missing(self, what: str) -> int:
        """Return how many launches are missing before the slot that is due for samples of ``what``: 0 to 3.

        Should a call launch more than is known, slots drift by as much from sample to sample; since the order in a
        group of four is random, they are then met at random instead of equally often.
        """
        if not self._due[what]:
            self._due[what] = self._random.sample(range(SLOTS), SLOTS)
        return (self._due[what].pop() - self._launched) % SLOTS
