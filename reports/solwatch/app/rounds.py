"""One round: a fresh pair of processes that take turns at every cell."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType

import msgspec

from solwatch.app.foreign import with_foreign_processes
from solwatch.app.pairs import Opening, Pair, Pairs, draw
from solwatch.app.processes import CellFailed, WorkerProcess
from solwatch.app.sides import Bench, Side
from solwatch.app.turns import Turns, block_s
from solwatch.model.cell import CellInfo
from solwatch.model.ports import Clock
from solwatch.model.protocol import (
    EnergyMeasured,
    Findings,
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
from solwatch.model.why import Called

_FRESH_PROCESS_AFTER = frozenset({"raised", "out_of_memory", "wrong"})
"""Failures that may leave the process damaged (a CUDA error is sticky, a cell that is wrong is left prepared): the
rest goes on in a fresh one."""

VOID_RETRIES = 2
"""A void block is measured again so often: a passing disturbance is gone by then, a lasting one is not waited out."""

_LASTING = frozenset({"telemetry_lost", "never_warm"})
"""Voids that a second try can't mend."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a round measures a cell.

    ``turns`` blocks for each side of ``block_s`` seconds; a hot loop of ``energy_s`` seconds if given. Void blocks
    are measured again until ``retry_until_s`` of the clock. ``more``: whether another round is expected.
    ``adapts``: a cell's own scatter says how many turns it takes after its first round.
    """

    turns: int
    block_s: float
    adapts: bool = False
    energy_s: float | None = None
    retry_until_s: float = math.inf
    more: bool = False


@dataclass
class Seat:
    """A slot of the round: the side the coin put there and its worker."""

    slot: int
    side: Side
    opening: Opening | None
    worker: WorkerProcess | None = None
    blocks: list[Block] = field(default_factory=list)
    failure: Failure | None = None
    energy: EnergyMeasured | None = None
    caches: str | None = None
    call_s: float = 0.0
    called: Called | None = None

    def record(self) -> SideRecord:
        """Return what this seat measured of the current cell."""
        return SideRecord(
            blocks=[] if self.failure else list(self.blocks),
            failure=self.failure,
            energy_j=self.energy.energy_j if self.energy else None,
            hot_s=self.energy.hot_s if self.energy else None,
            caches=self.caches,
            called=self.called,
        )


@dataclass(frozen=True)
class Known:
    """What earlier rounds found of a side's cells: what their call does, and failures not worth another try."""

    findings: dict[tuple[str, str], Findings] = field(default_factory=dict)
    given_up: dict[tuple[str, str], Failure] = field(default_factory=dict)
    turns: Turns = field(default_factory=Turns)


class RoundRunner:
    """Runs rounds of ``head`` against ``base``, or of ``head`` alone; a context manager that ends what it opened."""

    def __init__(
        self,
        bench: Bench,
        head: Side,
        base: Side | None,
        *,
        clock: Clock,
        known: Known | None = None,
        stride: int = 1,
    ) -> None:
        """Keep what all rounds share; coins and orders follow from the bench's seed and the round's index.

        ``known``: shared with runners on other benches. ``stride``: from one round of this runner to its next; those
        between are theirs.
        """
        self._known = known or Known()
        self._stride = stride
        self._bench = bench
        self._clock = clock
        self._pairs = Pairs(bench, [head, base] if base else [head], clock)

    def run(self, index: int, cells: Sequence[CellInfo], plan: Plan, *, on_cell: Callable[[str], None]) -> Round:
        """Measure ``cells`` once on each side, in an order of this round's own, with a fresh process for each side."""
        started_at, start_s = self._clock.now(), self._clock.monotonic()
        pair, opening_s = self._pairs.take(index)
        seats = [Seat(opening.slot, opening.side, opening) for opening in pair.openings]
        results = []
        try:
            if plan.more:
                self._pairs.start_ahead(index + self._stride)
            for number, cell in enumerate(self._shuffled(cells, pair)):
                on_cell(cell.key)
                order = seats if (index // self._stride + number) % 2 == 0 else seats[::-1]
                self._measure_cell(cell, order, plan, seed=self._bench.seed + index)
                results.append(self._cell_round(cell, seats))
                self._known.turns.note(cell.key, *(seat.blocks for seat in order))
            if plan.more:
                self._pairs.open_next(index + self._stride)
            self._close(seats)
        except BaseException:
            pair.discard()
            for seat in seats:
                if seat.worker:
                    seat.worker.end()
            raise
        return Round(
            index=index,
            head_slot=pair.head_slot,
            gpu=self._bench.gpu,
            started_at=started_at,
            wall_s=self._clock.monotonic() - start_s,
            opening_s=opening_s,
            cells=results,
        )

    def __enter__(self) -> "RoundRunner":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the processes that wait for a round that never came."""
        self._pairs.close()

    def _shuffled(self, cells: Sequence[CellInfo], pair: Pair) -> list[CellInfo]:
        generator = draw(self._bench.seed, pair.index)
        generator.randrange(2)  # the coin
        return generator.sample(cells, len(cells))

    def _measure_cell(self, cell: CellInfo, order: Sequence[Seat], plan: Plan, *, seed: int) -> None:
        self._attempt_cell(cell, order, plan, seed)
        died = [seat for seat in order if seat.failure and seat.failure.kind == "died"]
        if not died or all(self._has_given_up(seat, cell) for seat in died):
            return
        # A process can be ended from outside (memory pressure, an operator): one more try tells the cell's own
        # crash from that.
        first = {seat.slot: seat.failure for seat in died}
        self._attempt_cell(cell, order, plan, seed)
        for seat in died:
            before = first[seat.slot]
            if seat.failure and seat.failure.kind == "died" and before:
                seat.failure = Failure(kind="died", message=f"twice: {before.message}")
                self._known.given_up[seat.side.name, cell.key] = seat.failure

    def _attempt_cell(self, cell: CellInfo, order: Sequence[Seat], plan: Plan, seed: int) -> None:
        for seat in order:
            self._prepare(seat, cell, seed)
        call_s = max(seat.call_s for seat in order)
        turns = self._known.turns.of(cell.key, call_s, first=plan.turns) if plan.adapts else plan.turns
        for turn in range(turns):
            for seat in order if turn % 2 == 0 else order[::-1]:
                self._take_block(seat, cell, plan, block_s(plan.block_s, call_s))
        if plan.energy_s is not None:
            for seat in order:
                self._take_energy(seat, cell, plan.energy_s)
        # Threads that a cell leaves running would take the processor, and Python's lock, from the next one. Both
        # sides then go on in a fresh process, so that neither is the older one.
        leaves = [self._leaves_threads(seat) for seat in order]
        if any(leaves):
            for seat in order:
                if seat.worker is not None:
                    seat.worker.end()
                    seat.worker = None

    def _has_given_up(self, seat: Seat, cell: CellInfo) -> bool:
        return (seat.side.name, cell.key) in self._known.given_up

    def _prepare(self, seat: Seat, cell: CellInfo, seed: int) -> None:
        seat.blocks, seat.energy, seat.caches, seat.call_s, seat.called = [], None, None, 0.0, None
        side_cell = seat.side.name, cell.key
        seat.failure = self._known.given_up.get(side_cell)
        if seat.failure is not None:
            return
        known = self._known.findings.get(side_cell)
        request = Prepare(key=cell.key, seed=seed, check=known is None, findings=known)
        try:
            prepared = self._worker(seat).ask(request, Prepared, self._bench.hang_s)
            self._known.findings[side_cell] = prepared.findings
            seat.caches, seat.call_s, seat.called = prepared.caches, prepared.call_s, prepared.called
        except CellFailed as error:
            self._failed(seat, cell, error.failure)

    def _take_block(self, seat: Seat, cell: CellInfo, plan: Plan, wanted_s: float) -> None:
        """Take a block, and again when it is void for a reason that may pass."""
        for _ in range(1 + VOID_RETRIES):
            if seat.failure is not None or seat.worker is None:
                return
            try:
                measured = seat.worker.ask(Measure(target_s=wanted_s), Measured, self._bench.hang_s + wanted_s)
            except CellFailed as error:
                self._failed(seat, cell, error.failure)
                return
            block = with_foreign_processes(measured.block, self._bench.servers)
            seat.blocks.append(block)
            self._note_timer(seat, cell, block)
            if not block.voids or _LASTING & set(block.voids) or self._clock.monotonic() >= plan.retry_until_s:
                return

    def _note_timer(self, seat: Seat, cell: CellInfo, block: Block) -> None:
        """Remember for the next process that the worker had to take another timer."""
        known = self._known.findings[seat.side.name, cell.key]
        if block.timer != known.timer:
            self._known.findings[seat.side.name, cell.key] = msgspec.structs.replace(
                known, timer=block.timer, fallback=block.fallback, obstacle=block.fallback
            )

    def _take_energy(self, seat: Seat, cell: CellInfo, loop_s: float) -> None:
        if seat.failure is not None or seat.worker is None or cell.kind != "suite":
            return
        try:
            seat.energy = seat.worker.ask(MeasureEnergy(loop_s=loop_s), EnergyMeasured, self._bench.hang_s + loop_s)
        except CellFailed as error:
            self._failed(seat, cell, error.failure)

    def _leaves_threads(self, seat: Seat) -> bool:
        """Release the cell; return whether threads that it started run on."""
        if seat.failure is None and seat.worker is not None:
            try:
                return seat.worker.ask(Release(), Released, self._bench.hang_s).threads_left > 0
            except CellFailed:
                seat.worker.end()
                seat.worker = None
        return False

    def _failed(self, seat: Seat, cell: CellInfo, failure: Failure) -> None:
        seat.failure = failure
        if failure.kind != "died":
            self._known.given_up[seat.side.name, cell.key] = failure
        if seat.worker is not None and (failure.kind in _FRESH_PROCESS_AFTER or not seat.worker.alive):
            seat.worker.end()
            seat.worker = None

    def _worker(self, seat: Seat) -> WorkerProcess:
        if seat.worker is None:
            opening, seat.opening = seat.opening, None
            seat.worker = opening.result() if opening else self._bench.start(seat.side, seat.slot)[0]
        return seat.worker

    def _cell_round(self, cell: CellInfo, seats: Sequence[Seat]) -> CellRound:
        by_name = {seat.side.name: seat.record() for seat in seats}
        return CellRound(key=cell.key, head=by_name["head"], base=by_name.get("base"))

    @staticmethod
    def _close(seats: Sequence[Seat]) -> None:
        workers = [seat.worker for seat in seats if seat.worker is not None]
        for worker in workers:
            worker.let_go()
        for worker in workers:
            worker.close()
        for seat in seats:
            if seat.opening is not None:  # a side that has failed in every cell before: nothing was asked of it
                seat.opening.discard()
