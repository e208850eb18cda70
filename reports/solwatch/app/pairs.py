"""Fresh pairs of processes: forked, suite and device open; on a GPU the next pair opens while this one measures."""

import contextlib
import random
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

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
    opened: "Future[None]"

    def result(self) -> WorkerProcess:
        """Wait for the worker; raises ``CellFailed`` when it can't be had."""
        self.opened.result()
        return self.process

    def discard(self) -> None:
        """End the worker, opened or not."""
        self.process.kill()
        with contextlib.suppress(CellFailed, MachineError):
            self.opened.result()
        self.process.end()


@dataclass
class Pair:
    """What the coin drew for a round. ``opening_s``: wall time until both processes could measure."""

    index: int
    head_slot: int
    openings: list[Opening]
    began_s: float
    ended_s: list[float] = field(default_factory=list)

    @property
    def opening_s(self) -> float | None:
        """Known once every process has been opened."""
        return max(self.ended_s) - self.began_s if len(self.ended_s) == len(self.openings) else None

    def discard(self) -> None:
        """End its processes."""
        for opening in self.openings:
            opening.discard()


def draw(seed: int, index: int) -> random.Random:
    """Return the generator of everything random in round ``index``: its coin first, then the order of its cells."""
    return random.Random(f"{seed}:{index}")


class Pairs:
    """Opens the pairs of a run, in the background.

    Slots start in their order; a fair coin, drawn from the seed and the round's index, decides which side gets
    the first. On a CPU nothing is opened ahead: it would take the very cores that are being measured.
    """

    def __init__(self, bench: Bench, sides: Sequence[Side], clock: Clock) -> None:
        """Open pairs of ``sides``, head first; nothing is started yet."""
        self._bench = bench
        self._sides = sides
        self._clock = clock
        self._ahead: Pair | None = None
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="solwatch-opening")
        self._opens_ahead = bench.device != "cpu"

    def take(self, index: int) -> Pair:
        """Return the pair of round ``index``, opened ahead or being opened."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.index == index:
            return ahead
        if ahead is not None:
            ahead.discard()
        return self._begin(index)

    def open_ahead(self, index: int) -> None:
        """Begin to open the pair of round ``index`` where that disturbs nothing."""
        if self._opens_ahead and self._ahead is None:
            self._ahead = self._begin(index)

    def close(self) -> None:
        """End a pair that was opened for a round that never came."""
        if self._ahead is not None:
            self._ahead.discard()
            self._ahead = None
        self._threads.shutdown(wait=False)

    def _begin(self, index: int) -> Pair:
        head_slot = draw(self._bench.seed, index).randrange(2) if len(self._sides) == 2 else 0
        in_slots = list(self._sides) if head_slot == 0 else list(self._sides)[::-1]
        pair = Pair(index, head_slot, [], self._clock.monotonic())
        for slot, side in enumerate(in_slots):
            process = self._bench.fork(side, slot)
            pair.openings.append(Opening(slot, side, process, self._threads.submit(self._open, pair, process, side)))
        return pair

    def _open(self, pair: Pair, process: WorkerProcess, side: Side) -> None:
        self._bench.open(process, side)
        pair.ended_s.append(self._clock.monotonic())
