"""Rounds in scripted workers: a plan, cells, a clock of the test's own, and scripts of what goes wrong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fakes.workers import FakeWorker, cells

from solwatch.app.rounds import Plan, RoundRunner
from solwatch.app.sides import Side
from solwatch.model.cell import CellInfo
from solwatch.model.protocol import Measure, Measured
from solwatch.model.record import Block, Round

HEAD, BASE = Side(name="head", path=("head",)), Side(name="base", path=("base",))
PLAN = Plan(turns=2, block_s=0.01)
MORE = replace(PLAN, more=True)
A, B, C = cells("a", "b", "c")


class FakeClock:
    """A clock that moves by ``step_s`` at each look; its date steps back at each."""

    def __init__(self, step_s: float = 0.0) -> None:
        self.step_s = step_s
        self.read_s = 0.0
        self.years = iter(range(2030, 1, -1))

    def monotonic(self) -> float:
        self.read_s += self.step_s
        return self.read_s

    def now(self) -> str:
        return f"{next(self.years)}-01-01T00:00:00+00:00"


def run(runner: RoundRunner, index: int = 0, *, of: list[CellInfo] | None = None, plan: Plan = PLAN) -> Round:
    return runner.run(index, [A] if of is None else of, plan, on_cell=lambda key: None)


def when(kind: type[Any], answer: Any, *, side: str | None = None, times: int = 10**6) -> Callable[..., Any]:
    """Return a script that gives ``answer`` to the first ``times`` requests of ``kind``."""
    left = [times]

    def script(worker: FakeWorker, request: Any) -> Any:
        if not isinstance(request, kind) or side not in (None, worker.side) or not left[0]:
            return None
        left[0] -= 1
        return answer

    return script


def measuring(*blocks: Block, side: str | None = None) -> Callable[..., Any]:
    """Return a script that measures ``blocks`` one after the other, then ordinary ones."""
    waiting = list(blocks)

    def script(worker: FakeWorker, request: Any) -> Any:
        if isinstance(request, Measure) and side in (None, worker.side) and waiting:
            return Measured(block=waiting.pop(0))
        return None

    return script
