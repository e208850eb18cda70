"""Rounds on several GPUs of a host at once: each GPU has whole rounds, with processes and caches of its own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from types import TracebackType

from solwatch.app.rounds import Plan, RoundRunner
from solwatch.app.sides import Bench, Side
from solwatch.model.cell import CellInfo
from solwatch.model.errors import MachineError
from solwatch.model.ports import Clock
from solwatch.model.record import Round


class Spread:
    """Runs rounds, as many at once as there are benches: round i on bench i modulo their number.

    Both sides of a cell run on one GPU in each round. Rounds are what is spread, not cells: each GPU is busy until the
    last cell, opening processes costs no more than on one, and a lone suspect has all GPUs for itself.
    """

    def __init__(self, benches: Sequence[Bench], head: Side, base: Side | None, *, clock: Clock) -> None:
        """Keep what all rounds share; nothing is started yet."""
        self._benches = benches
        self._runners = [RoundRunner(bench, head, base, clock=clock, stride=len(benches)) for bench in benches]
        self._opened = ExitStack()

    def run(
        self,
        indices: range,
        cells: Sequence[CellInfo],
        plan: Callable[[int], Plan],
        *,
        on_cell: Callable[[str], None],
        keep: Callable[[Round], None],
    ) -> None:
        """Measure ``cells`` in the rounds ``indices``, at most one for each bench, and hand each to ``keep`` in order.

        What ends one of the rounds, or this thread (an interruption), ends the others too, and is raised when those
        that were complete have been kept.
        """
        if len(indices) == 1:
            keep(self._runner(indices[0]).run(indices[0], cells, plan(indices[0]), on_cell=on_cell))
            return
        locked = _one_at_a_time(on_cell)
        with ThreadPoolExecutor(max_workers=len(indices), thread_name_prefix="solwatch-gpu") as threads:
            parts = [
                threads.submit(self._runner(index).run, index, cells, plan(index), on_cell=locked) for index in indices
            ]
            try:
                wait(parts, return_when=FIRST_EXCEPTION)
                failures = _failures(parts)
                if failures:
                    raise failures[0]
            except BaseException:
                complete = [part for part in parts if part.done() and part.exception() is None]
                for bench in self._benches:
                    bench.stop()
                for part in complete:
                    keep(part.result())
                raise
        for part in parts:
            keep(part.result())

    def __enter__(self) -> "Spread":
        for runner in self._runners:
            self._opened.enter_context(runner)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._opened.close()

    def _runner(self, index: int) -> RoundRunner:
        return self._runners[index % len(self._runners)]


def _failures(parts: Sequence["Future[Round]"]) -> list[BaseException]:
    """Return what ended rounds that are done; an interruption first, what the machine did last."""
    raised = [part.exception() for part in parts if part.done()]
    failures = [error for error in raised if error is not None]
    return sorted(failures, key=lambda error: (isinstance(error, Exception), isinstance(error, MachineError)))


def _one_at_a_time(on_cell: Callable[[str], None]) -> Callable[[str], None]:
    lock = threading.Lock()

    def locked(key: str) -> None:
        with lock:
            on_cell(key)

    return locked
