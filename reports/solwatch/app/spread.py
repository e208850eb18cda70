"""Rounds that are spread over the GPUs of a host: each GPU has its own cells, processes and caches."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from types import TracebackType

import msgspec

from solwatch.app.rounds import Plan, RoundRunner
from solwatch.app.sides import Bench, Side
from solwatch.model.cell import CellInfo
from solwatch.model.errors import MachineError
from solwatch.model.ports import Clock
from solwatch.model.record import Round


class Spread:
    """Runs rounds like ``RoundRunner``, on one bench or on several at once.

    ``shares``: for each bench the keys of its cells. Both sides of a cell run on one bench, the same in all rounds.
    All benches draw the same coin: a round has one ``head_slot``.
    """

    def __init__(
        self, benches: Sequence[Bench], shares: Sequence[frozenset[str]], head: Side, base: Side | None, *, clock: Clock
    ) -> None:
        """Keep what all rounds share; nothing is started yet."""
        self._benches = benches
        self._shares = shares
        self._clock = clock
        self._runners = [RoundRunner(bench, head, base, clock=clock) for bench in benches]
        self._opened = ExitStack()

    def run(self, index: int, cells: Sequence[CellInfo], plan: Plan, *, on_cell: Callable[[str], None]) -> Round:
        """Measure ``cells`` once on each side; done when every bench is done with its share.

        What ends one bench's share, or this thread (an interruption), ends the others' too, and is raised.
        """
        chosen = [[cell for cell in cells if cell.key in keys] for keys in self._shares]
        busy = [number for number, share in enumerate(chosen) if share]
        if len(busy) < 2:
            number = busy[0] if busy else 0
            return self._run(number, index, chosen[number], plan, on_cell)
        started_at, start_s = self._clock.now(), self._clock.monotonic()
        parts = self._at_once(busy, index, chosen, plan, _one_at_a_time(on_cell))
        return Round(
            index=index,
            head_slot=parts[0].head_slot,
            started_at=started_at,
            wall_s=self._clock.monotonic() - start_s,
            opening_s=max(part.opening_s or 0.0 for part in parts),
            cells=[cell for part in parts for cell in part.cells],
        )

    def __enter__(self) -> "Spread":
        for runner in self._runners:
            self._opened.enter_context(runner)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._opened.close()

    def _run(
        self, number: int, index: int, cells: Sequence[CellInfo], plan: Plan, on_cell: Callable[[str], None]
    ) -> Round:
        gpu = self._benches[number].gpu
        part = self._runners[number].run(index, cells, plan, on_cell=on_cell)
        return msgspec.structs.replace(part, cells=[msgspec.structs.replace(cell, gpu=gpu) for cell in part.cells])

    def _at_once(
        self,
        busy: Sequence[int],
        index: int,
        chosen: Sequence[Sequence[CellInfo]],
        plan: Plan,
        on_cell: Callable[[str], None],
    ) -> list[Round]:
        with ThreadPoolExecutor(max_workers=len(busy), thread_name_prefix="solwatch-gpu") as threads:
            try:
                parts = [threads.submit(self._run, number, index, chosen[number], plan, on_cell) for number in busy]
                wait(parts, return_when=FIRST_EXCEPTION)
                failures = _failures(parts)
                if failures:
                    raise failures[0]
            except BaseException:
                for number in busy:
                    self._benches[number].stop()
                raise
        return [part.result() for part in parts]


def _failures(parts: Sequence["Future[Round]"]) -> list[BaseException]:
    """Return what ended parts that are done; an interruption first, what the machine did last."""
    raised = [part.exception() for part in parts if part.done()]
    failures = [error for error in raised if error is not None]
    return sorted(failures, key=lambda error: (isinstance(error, Exception), isinstance(error, MachineError)))


def _one_at_a_time(on_cell: Callable[[str], None]) -> Callable[[str], None]:
    lock = threading.Lock()

    def locked(key: str) -> None:
        with lock:
            on_cell(key)

    return locked
