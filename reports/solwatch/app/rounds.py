"""One round: a fresh pair of processes that take turns at every cell."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from solwatch.app.processes import CellFailed, WorkerProcess
from solwatch.app.sides import Bench, Side
from solwatch.model.cell import CellInfo
from solwatch.model.ports import Clock
from solwatch.model.protocol import (
    EnergyMeasured,
    Measure,
    Measured,
    MeasureEnergy,
    Prepare,
    Prepared,
    Release,
    Released,
)
from solwatch.model.record import Block, CellRound, Failure, Round
from solwatch.model.record import Side as SideRecord

_FRESH_PROCESS_AFTER = frozenset({"raised", "out_of_memory"})
"""Failures that may leave the process damaged (a CUDA error is sticky): the rest goes on in a fresh one."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a round measures a cell: ``turns`` blocks for each side of ``block_s`` seconds; hot loop if ``energy_s``."""

    turns: int
    block_s: float
    energy_s: float | None = None


@dataclass
class Seat:
    """A slot of the round: the side the coin put there and its worker."""

    slot: int
    side: Side
    worker: WorkerProcess | None = None
    blocks: list[Block] = field(default_factory=list)
    failure: Failure | None = None
    energy: EnergyMeasured | None = None
    caches: str | None = None

    def record(self) -> SideRecord:
        """Return what this seat measured of the current cell."""
        return SideRecord(
            blocks=[] if self.failure else list(self.blocks),
            failure=self.failure,
            energy_j=self.energy.energy_j if self.energy else None,
            hot_s=self.energy.hot_s if self.energy else None,
            caches=self.caches,
        )


class RoundRunner:
    """Runs rounds of ``head`` against ``base``, or of ``head`` alone."""

    def __init__(self, bench: Bench, head: Side, base: Side | None, *, clock: Clock, coin: random.Random) -> None:
        """Keep what all rounds share; ``coin`` is seeded by the caller and the seed recorded."""
        self._bench = bench
        self._head = head
        self._base = base
        self._clock = clock
        self._coin = coin
        self._given_up: dict[tuple[str, str], Failure] = {}

    def run(self, index: int, cells: Sequence[CellInfo], plan: Plan, *, on_cell: Callable[[str], None]) -> Round:
        """Measure ``cells`` once on each side with a fresh process for each, drawn by the coin into two slots."""
        started_at, start_s = self._clock.now(), self._clock.monotonic()
        head_slot = self._coin.randrange(2) if self._base else 0
        seats = self._seats(head_slot)
        results = []
        try:
            for number, cell in enumerate(cells):
                on_cell(cell.key)
                order = seats if (index + number) % 2 == 0 else seats[::-1]
                self._measure_cell(cell, order, plan, index)
                results.append(self._cell_round(cell, seats))
            self._close(seats)
        except BaseException:
            for seat in seats:
                if seat.worker:
                    seat.worker.end()
            raise
        return Round(
            index=index,
            head_slot=head_slot,
            started_at=started_at,
            wall_s=self._clock.monotonic() - start_s,
            cells=results,
        )

    def _seats(self, head_slot: int) -> list[Seat]:
        if self._base is None:
            return [Seat(0, self._head)]
        sides = [self._head, self._base] if head_slot == 0 else [self._base, self._head]
        return [Seat(slot, side) for slot, side in enumerate(sides)]

    def _measure_cell(self, cell: CellInfo, order: Sequence[Seat], plan: Plan, index: int) -> None:
        self._attempt_cell(cell, order, plan, index)
        died = [seat for seat in order if seat.failure and seat.failure.kind == "died"]
        if not died or all(self._has_given_up(seat, cell) for seat in died):
            return
        # A process can be ended from outside (memory pressure, an operator): one more try tells the cell's own
        # crash from that.
        first = {seat.slot: seat.failure for seat in died}
        self._attempt_cell(cell, order, plan, index)
        for seat in died:
            before = first[seat.slot]
            if seat.failure and seat.failure.kind == "died" and before:
                seat.failure = Failure(kind="died", message=f"twice: {before.message}")
                self._given_up[seat.side.name, cell.key] = seat.failure

    def _attempt_cell(self, cell: CellInfo, order: Sequence[Seat], plan: Plan, index: int) -> None:
        for seat in order:
            self._prepare(seat, cell, check=index == 0, seed=self._bench.seed + index)
        for turn in range(plan.turns):
            for seat in order if turn % 2 == 0 else order[::-1]:
                self._take_block(seat, cell, plan)
        if plan.energy_s is not None:
            for seat in order:
                self._take_energy(seat, cell, plan.energy_s)
        for seat in order:
            self._release(seat)

    def _has_given_up(self, seat: Seat, cell: CellInfo) -> bool:
        return (seat.side.name, cell.key) in self._given_up

    def _prepare(self, seat: Seat, cell: CellInfo, *, check: bool, seed: int) -> None:
        seat.blocks, seat.energy, seat.caches = [], None, None
        seat.failure = self._given_up.get((seat.side.name, cell.key))
        if seat.failure is not None:
            return
        try:
            prepared = self._worker(seat).ask(
                Prepare(key=cell.key, seed=seed, check=check), Prepared, self._bench.hang_s
            )
            seat.caches = prepared.caches
        except CellFailed as error:
            self._failed(seat, cell, error.failure)

    def _take_block(self, seat: Seat, cell: CellInfo, plan: Plan) -> None:
        if seat.failure is not None or seat.worker is None:
            return
        try:
            seat.blocks.append(
                seat.worker.ask(Measure(target_s=plan.block_s), Measured, self._bench.hang_s + plan.block_s).block
            )
        except CellFailed as error:
            self._failed(seat, cell, error.failure)

    def _take_energy(self, seat: Seat, cell: CellInfo, loop_s: float) -> None:
        if seat.failure is not None or seat.worker is None or cell.kind != "suite":
            return
        try:
            seat.energy = seat.worker.ask(MeasureEnergy(loop_s=loop_s), EnergyMeasured, self._bench.hang_s + loop_s)
        except CellFailed as error:
            self._failed(seat, cell, error.failure)

    def _release(self, seat: Seat) -> None:
        if seat.failure is None and seat.worker is not None:
            try:
                seat.worker.ask(Release(), Released, self._bench.hang_s)
            except CellFailed:
                seat.worker.end()
                seat.worker = None

    def _failed(self, seat: Seat, cell: CellInfo, failure: Failure) -> None:
        seat.failure = failure
        if failure.kind != "died":
            self._given_up[seat.side.name, cell.key] = failure
        if seat.worker is not None and (failure.kind in _FRESH_PROCESS_AFTER or not seat.worker.alive):
            seat.worker.end()
            seat.worker = None

    def _worker(self, seat: Seat) -> WorkerProcess:
        if seat.worker is None:
            seat.worker, _ = self._bench.start(seat.side, seat.slot)
        return seat.worker

    def _cell_round(self, cell: CellInfo, seats: Sequence[Seat]) -> CellRound:
        by_name = {seat.side.name: seat.record() for seat in seats}
        return CellRound(key=cell.key, head=by_name["head"], base=by_name.get("base"))

    @staticmethod
    def _close(seats: Sequence[Seat]) -> None:
        for seat in seats:
            if seat.worker is not None:
                seat.worker.close()
                seat.worker = None
