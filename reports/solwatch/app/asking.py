"""What is asked of a suite before anything is timed, each question in a worker of its own.

A worker that dies is asked once more: it may have been ended from outside (memory pressure, an operator).
"""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from solwatch.app.kept_ceilings import worker_ceilings
from solwatch.app.processes import CellFailed
from solwatch.app.sides import Bench, Side
from solwatch.model.cell import Work
from solwatch.model.protocol import Describe, Described, Opened, Request
from solwatch.model.record import Ceilings

R = TypeVar("R")


def open_suite(bench: Bench, side: Side, benchmarks_dir: Path | None = None) -> Opened:
    """Return what opening the suite with ``side``'s build says; raises ``CellFailed``."""

    def ask() -> Opened:
        worker, opened = bench.start(side, 0, benchmarks_dir=benchmarks_dir)
        worker.close()
        return opened

    return _twice_if_died(ask)


def work_of(bench: Bench, sides: Iterable[Side], keys: Sequence[str]) -> dict[str, Work]:
    """Return the work of the cells by key, each as the first of ``sides`` tells whose build can.

    A cell that none can describe is left out: it fails when it is prepared, by itself, or goes without a score.
    """
    work: dict[str, Work] = {}
    for side in sides:
        left = [key for key in keys if key not in work]
        if left:
            with contextlib.suppress(CellFailed):
                work |= _asked(bench, side, Describe(keys=left), Described, bench.hang_s).work
    return work


def ceilings_for(bench: Bench, side: Side, work: Iterable[Work]) -> Ceilings:
    """Return the device's ceilings for the dtypes of ``work``, kept or measured; raises ``CellFailed``."""
    dtypes = sorted({one.dtype for one in work})
    if not dtypes:
        return Ceilings(source="not measured: no cell says what work it does")

    def ask() -> Ceilings:
        worker, opened = bench.start(side, 0)
        try:
            return worker_ceilings(worker, opened.fingerprint, dtypes)
        finally:
            worker.close()

    return _twice_if_died(ask)


def _asked(bench: Bench, side: Side, request: Request, expected: type[R], limit_s: float) -> R:
    def ask() -> R:
        worker, _ = bench.start(side, 0)
        try:
            return worker.ask(request, expected, limit_s)
        finally:
            worker.close()

    return _twice_if_died(ask)


def _twice_if_died(ask: Callable[[], R]) -> R:
    try:
        return ask()
    except CellFailed as error:
        if error.failure.kind != "died":
            raise
    return ask()
