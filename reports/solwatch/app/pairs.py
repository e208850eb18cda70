"""Fresh pairs of processes. On a GPU the next pair starts while this one measures, and opens when it has measured."""

import contextlib
import random
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from solwatch.app.processes import CellFailed, WorkerProcess
from solwatch.app.sides import Bench, Side
from solwatch.model.errors import MachineError
from solwatch.model.ports import Clock


@dataclass
class Opening:
    """A side that is being opened in a slot."""

    slot: int
    side: Side
    process: WorkerProcess
    discovered: "Future[None]"
    opened: "Future[None] | None" = None

    def result(self) -> WorkerProcess:
        """Wait for the worker; raises ``CellFailed`` when it can't be had."""
        if self.opened is not None:
            self.opened.result()
        return self.process

    def discard(self) -> None:
        """End the worker, opened or not."""
        self.process.kill()
        for step in (self.discovered, self.opened):
            if step is not None:
                with contextlib.suppress(CellFailed, MachineError):
                    step.result()
        self.process.end()


@dataclass
class Pair:
    """What the coin drew for a round."""

    index: int
    head_slot: int
    openings: list[Opening]

    def discard(self) -> None:
        """End its processes."""
        for opening in self.openings:
            opening.discard()


def draw(seed: int, index: int) -> random.Random:
    """Return the generator of everything random in round ``index``: its coin first, then the order of its cells."""
    return random.Random(f"{seed}:{index}")


class Pairs:
    """Makes the pairs of a run, in the background.

    Slots start in their order; a fair coin, drawn from the seed and the round's index, decides which side gets the
    first. What leaves the device alone is done ahead: forking, importing the suite, initialising the driver. On a
    CPU nothing is: it would take the very cores that are being measured.
    """

    def __init__(self, bench: Bench, sides: Sequence[Side], clock: Clock) -> None:
        """Make pairs of ``sides``, head first; nothing is started yet."""
        self._bench = bench
        self._sides = sides
        self._clock = clock
        self._next: Pair | None = None
        self._asked_s = 0.0
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="solwatch-opening")
        self._starts_ahead = bench.device != "cpu"

    def start_ahead(self, index: int) -> None:
        """Start the pair of round ``index`` while another measures, where that disturbs nothing."""
        if self._starts_ahead and self._next is None:
            self._next = self._started(index)

    def open_next(self, index: int) -> None:
        """Begin to open the pair of round ``index``: nobody is measuring now."""
        if self._next is not None and self._next.index != index:
            self._next.discard()
            self._next = None
        self._next = self._next or self._started(index)
        if self._next.openings[0].opened is None:
            self._asked_s = self._clock.monotonic()
            for opening in self._next.openings:
                opening.opened = self._threads.submit(self._open, opening)

    def take(self, index: int) -> tuple[Pair, float]:
        """Return the pair of round ``index`` when it can measure, and the wall time since it was begun to be opened.

        A process that can't be opened says so when it is used.
        """
        self.open_next(index)
        pair = self._next
        assert pair is not None, "open_next has just made it"
        wait([opening.opened for opening in pair.openings if opening.opened is not None])
        self._next = None  # not before: an interruption while waiting leaves the pair to ``close``
        return pair, self._clock.monotonic() - self._asked_s

    def close(self) -> None:
        """End a pair that was made for a round that never came."""
        if self._next is not None:
            self._next.discard()
            self._next = None
        self._threads.shutdown(wait=False)

    def _started(self, index: int) -> Pair:
        head_slot = draw(self._bench.seed, index).randrange(2) if len(self._sides) == 2 else 0
        in_slots = list(self._sides) if head_slot == 0 else list(self._sides)[::-1]
        pair = Pair(index, head_slot, [])
        try:
            for slot, side in enumerate(in_slots):
                process = self._bench.fork(side, slot)
                discovered = self._threads.submit(self._bench.discover, process)
                pair.openings.append(Opening(slot, side, process, discovered))
        except BaseException:
            pair.discard()
            raise
        return pair

    def _open(self, opening: Opening) -> None:
        opening.discovered.result()
        self._bench.open(opening.process, opening.side)
