"""Rounds on several GPUs of a host at once: each GPU has whole rounds, with processes and caches of its own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType

from solwatch.app.rounds import Known, Plan, RoundRunner
from solwatch.app.sides import Bench, Side
from solwatch.model.cell import CellInfo
from solwatch.model.errors import MachineError
from solwatch.model.ports import Clock
from solwatch.model.record import Round


@dataclass
class Lane:
    """A bench with its own rounds: every so many-th, from ``index`` on. ``running``: the one that has begun."""

    bench: Bench
    runner: RoundRunner
    index: int
    running: "Future[Round] | None" = None


class Spread:
    """Runs rounds on one bench or on several at once, each at its own pace: round i on bench i modulo their number.

    Both sides of a cell run on one GPU in each round. Rounds are what is spread, not cells: no GPU waits for another,
    opening processes costs no more than on one, and a lone suspect has all GPUs for itself. What one bench learns of
    a cell (its timer, its turns, that it fails) all know.
    """

    def __init__(
        self,
        benches: Sequence[Bench],
        head: Side,
        base: Side | None,
        *,
        clock: Clock,
        most_rounds: int,
        on_cell: Callable[[str], None],
    ) -> None:
        """Keep what all rounds share; nothing is started yet."""
        known, count = Known(), len(benches)
        self._lanes = [
            Lane(bench, RoundRunner(bench, head, base, clock=clock, known=known, stride=count), index)
            for index, bench in enumerate(benches)
        ]
        self._most_rounds = most_rounds
        self._on_cell = _one_at_a_time(on_cell)
        self._threads = ThreadPoolExecutor(max_workers=count, thread_name_prefix="solwatch-gpu")

    def run(self, cells: Sequence[CellInfo], plan: Callable[[int], Plan]) -> list[Round]:
        """Begin a round of ``cells`` on each bench that is idle and return those that have ended, one at least.

        Returns none when all rounds are done. What ends a round otherwise is raised, after those that ended well have
        been returned.
        """
        self._raise_what_failed()
        for lane in self._lanes:
            if lane.running is None and lane.index < self._most_rounds:
                lane.running = self._begun(lane, cells, plan(lane.index))
                lane.index += len(self._lanes)
        running = [lane.running for lane in self._lanes if lane.running is not None]
        wait(running, return_when=FIRST_COMPLETED)
        rounds = []
        for lane in self._lanes:
            if lane.running is not None and lane.running.done() and lane.running.exception() is None:
                rounds.append(lane.running.result())
                lane.running = None
        if not rounds:
            self._raise_what_failed()
        return rounds

    def __enter__(self) -> "Spread":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End what is still running, and the processes that wait for a round that never comes."""
        for lane in self._lanes:
            if lane.running is not None and not lane.running.done():
                lane.bench.stop()
        self._threads.shutdown(wait=True)
        for lane in self._lanes:
            lane.runner.close()

    def _raise_what_failed(self) -> None:
        """Raise what ended a round; an interruption first, what the machine did last."""
        done = [lane.running for lane in self._lanes if lane.running is not None and lane.running.done()]
        errors = [error for each in done if (error := each.exception()) is not None]
        if errors:
            raise min(errors, key=lambda error: (isinstance(error, Exception), isinstance(error, MachineError)))

    def _begun(self, lane: Lane, cells: Sequence[CellInfo], plan: Plan) -> "Future[Round]":
        run, index = lane.runner.run, lane.index
        if len(self._lanes) > 1:
            return self._threads.submit(run, index, cells, plan, on_cell=self._on_cell)
        # One bench is run by this thread, where an interruption ends it by itself.
        ended: Future[Round] = Future()
        ended.set_result(run(index, cells, plan, on_cell=self._on_cell))
        return ended


def _one_at_a_time(on_cell: Callable[[str], None]) -> Callable[[str], None]:
    lock = threading.Lock()

    def locked(key: str) -> None:
        with lock:
            on_cell(key)

    return locked
