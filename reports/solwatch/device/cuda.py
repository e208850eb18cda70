"""Measuring on a GPU: one cell at a time, by the timer it asks for or the one that can time it."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import torch

from solwatch.device.caches import CacheWatch
from solwatch.device.clock_probe import ClockProbe
from solwatch.device.cuda_ceilings import measure_cuda_ceilings
from solwatch.device.cupti import cupti_samples
from solwatch.device.detection import Detected, detect
from solwatch.device.energy import measure_hot
from solwatch.device.events import device_wall_samples, event_samples, work_outside_events
from solwatch.device.graph import CapturedShots
from solwatch.device.nvml import Gpu
from solwatch.device.placement import Placement
from solwatch.device.preparing import first_call
from solwatch.device.sampler import (
    GATE_OPENED,
    Pace,
    Samples,
    Shot,
    gated_duration,
    gated_samples,
    plain_shots,
    unrolled,
)
from solwatch.device.stage import READ_FLUSH, Stage
from solwatch.device.wall import no_garbage_collection
from solwatch.device.warmup import WarmUp, warm_up
from solwatch.device.watching import Watch, low_clock, void_reasons
from solwatch.device.xid import XidWatch
from solwatch.model.cell import Cell, Timer
from solwatch.model.errors import MachineError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.protocol import EnergyMeasured, Findings, Prepared
from solwatch.model.record import Block, Ceilings
from solwatch.model.why import Called

POOL_BYTES = 24 << 30
POOL_SHARE = 0.3
"""The pool takes this share of the free memory at most: two workers and their cells must fit side by side."""

MOST_SETS = 24
ROTATION_BYTES = 2 << 30
"""Sets are made until their copies take a millisecond, but never more than ``MOST_SETS``."""

LEAST_CALLS = 3
"""A block of long calls lasts as long as it takes to time so many."""

WARM_UP_LIMIT_S = 60.0
HOT_CALLS_PER_GRAPH = 20


@dataclass
class _PreparedCell:
    cell: Cell
    placement: Placement
    findings: Findings
    pace: Pace
    warm: WarmUp
    listing: frozenset[tuple[str, int]]
    called: Called | None


class CudaDevice:
    """One GPU; ``seed`` draws the places of buffers, ``flush_kind`` is ``read`` or, to compare, ``memset``."""

    def __init__(
        self,
        index: int,
        *,
        seed: int,
        flush_kind: str = READ_FLUSH,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Open GPU ``index`` as torch counts it. Raises ``MachineError`` that names the driver call that failed."""
        self.stage = Stage(index, flush_kind=flush_kind, clock=clock)
        self._clock = clock
        self._gpu = Gpu(f"GPU-{self.stage.properties.uuid}")
        self._seed = seed
        self._prepared_count = 0
        self._nominal_clock_hz = self._gpu.nominal_clock_hz()
        self._probe = ClockProbe(self.stage.kernels, self.stage.device)
        self._xid = XidWatch(self._gpu)
        self._caches = CacheWatch(os.environ)
        self._pool: torch.Tensor | None = None
        self._prepared: _PreparedCell | None = None

    def fingerprint(self) -> Fingerprint:
        """Return what a time taken here belongs to."""
        properties = self.stage.properties
        return self._gpu.fingerprint(model=properties.name, cuda=torch.version.cuda, torch=str(torch.__version__))

    def ceilings(self, dtypes: list[str]) -> Ceilings:
        """Return rated ceilings and measure the sustained ones; takes about half a second for a dtype."""
        return measure_cuda_ceilings(self.stage, self._gpu, dtypes)

    def prepare(self, cell: Cell, *, seed: int, check: bool, findings: Findings | None = None) -> Prepared:
        """Make the inputs, place them, check the result if asked, warm up, see what the call does if not known.

        Raises what the cell raises, ``torch.OutOfMemoryError`` among it; the next cell finds the memory free.
        """
        self.release()
        try:
            with torch.cuda.stream(self.stage.stream), torch.no_grad():
                self._prepared = self._prepared_cell(cell, seed, check, findings)
        except BaseException:
            self.release()
            raise
        prepared = self._prepared
        return Prepared(
            work=cell.work,
            findings=prepared.findings,
            call_s=prepared.pace.call_s,
            caches=self._caches.digest(),
            called=prepared.called,
        )

    def measure(self, target_s: float) -> Block:
        """Take one block of about ``target_s`` seconds, longer for a few long calls, from buffers at new places."""
        prepared = self._need_prepared()
        target_s = max(target_s, LEAST_CALLS * (prepared.pace.call_s + 2 * self.stage.flush_s))
        with Watch(self._gpu) as watch, torch.cuda.stream(self.stage.stream), torch.no_grad(), no_garbage_collection():
            self._probe.begin(self.stage.handle)
            samples = self._samples(prepared, target_s)
            self._probe.end(self.stage.handle)
            self.stage.synchronize()
        sm_clock_hz = self._probe.clock_hz()
        xid, listing = self._xid.heard(), self._caches.listing()
        watch.wait()
        before, after = watch.before, watch.after
        voids = samples.voids + void_reasons(before, after, watch)
        if low_clock(sm_clock_hz, self._nominal_clock_hz, before, after, watch.reasons):
            voids.append("low_clock")
        if xid:
            voids.append("xid_error")
        if listing != prepared.listing:
            voids.append("cache_changed")
        if not prepared.warm.settled:
            voids.append("never_warm")
        block = Block(
            samples_s=samples.samples_s,
            null_s=samples.null_s,
            number=prepared.pace.number,
            timer=prepared.findings.timer,
            fallback=prepared.findings.fallback,
            launches=prepared.findings.launches,
            sm_clock_hz=sm_clock_hz or watch.sm_clock_hz,
            before=before,
            after=after,
            voids=voids,
        )
        if GATE_OPENED in samples.voids:
            reason = "the call waits for the stream it runs on: the watchdog had to open the gate"
            prepared.findings = msgspec.structs.replace(
                prepared.findings, timer=Timer.EVENTS, fallback=reason, obstacle=reason
            )
        return block

    def get_ready(self) -> None:
        """Draw the places for the block that comes next, if any: while the other side measures."""
        if self._prepared is not None:
            self._prepared.placement.arrange()

    def measure_energy(self, loop_s: float) -> EnergyMeasured:
        """Run the prepared cell hot; calls that can be captured are replayed as a graph, free of launch gaps."""
        prepared = self._need_prepared()
        with torch.cuda.stream(self.stage.stream), torch.no_grad():
            sets = prepared.placement.draw()[:1]
            if prepared.findings.obstacle is not None:
                shot = plain_shots(prepared.cell.call, sets)[0]
                return measure_hot(self.stage, self._gpu, shot, 1, loop_s=loop_s)
            captured = CapturedShots(self.stage, prepared.cell.call, sets, repeat=HOT_CALLS_PER_GRAPH)
            return measure_hot(self.stage, self._gpu, captured.shots()[0], HOT_CALLS_PER_GRAPH, loop_s=loop_s)

    def release(self) -> None:
        """Forget the prepared cell and give its memory back; the pool stays."""
        self._prepared = None
        self.stage.synchronize()
        torch.cuda.empty_cache()

    def _need_prepared(self) -> _PreparedCell:
        if self._prepared is None:
            raise MachineError(f"no cell is prepared on cuda:{self.stage.index}: preparing failed or it was released")
        return self._prepared

    def _prepared_cell(self, cell: Cell, seed: int, check: bool, findings: Findings | None) -> _PreparedCell:
        self._prepared_count += 1
        source = cell.make_inputs(f"cuda:{self.stage.index}", seed)
        placement = Placement(
            source,
            self._taken_pool(),
            seed=self._seed * 1_000_003 + self._prepared_count,
            most_sets=MOST_SETS,
            rotation_bytes=ROTATION_BYTES,
        )
        sets = placement.draw()
        first_call(cell, sets[0], check=check)
        shots = plain_shots(cell.call, sets)
        warm = warm_up(lambda: self._batch_s(shots), self._caches, self._clock, limit_s=WARM_UP_LIMIT_S)
        called = None
        if findings is None:
            detected = detect(self.stage, cell.call, sets[0], source)
            findings, called = self._look(cell, detected, shots), Called(launches=detected.kernels)
        launches = findings.launches or 1
        call_s = gated_duration(self.stage, shots, launches) if findings.obstacle is None else warm.call_s
        pace = Pace(number=unrolled(call_s, launches), launches=launches, call_s=call_s)
        return _PreparedCell(cell, placement, findings, pace, warm, self._caches.listing(), called)

    def _look(self, cell: Cell, detected: Detected, shots: Sequence[Shot]) -> Findings:
        timer, fallback = self._choose_timer(cell, detected, shots)
        return Findings(timer=timer, fallback=fallback, launches=detected.launches, obstacle=detected.obstacle)

    def _choose_timer(self, cell: Cell, detected: Detected, shots: Sequence[Shot]) -> tuple[Timer, str | None]:
        asked = cell.timer or Timer.HELD
        if asked in (Timer.CUPTI, Timer.WALL):
            return asked, None
        outside = work_outside_events(self.stage, shots)
        if detected.escapes or outside is not None:
            return Timer.WALL, "; ".join(filter(None, (detected.obstacle, outside)))
        if detected.obstacle is None:
            return asked, None
        return Timer.EVENTS, None if asked == Timer.EVENTS else detected.obstacle

    def _samples(self, prepared: _PreparedCell, target_s: float) -> Samples:
        stage, pace = self.stage, prepared.pace
        deadline = self._clock() + target_s
        sets = prepared.placement.draw()
        shots = plain_shots(prepared.cell.call, sets)
        if prepared.findings.timer == Timer.EVENTS:
            return event_samples(stage, shots, pace.number, deadline=deadline)
        if prepared.findings.timer == Timer.WALL:
            return device_wall_samples(stage, shots, pace.number, deadline=deadline)
        if prepared.findings.timer == Timer.CUPTI:
            return cupti_samples(stage, shots, pace.number, deadline=deadline)
        if prepared.findings.timer == Timer.GRAPH:
            captured = CapturedShots(stage, prepared.cell.call, sets)
            return gated_samples(stage, captured.shots(), pace, deadline=deadline, target_s=target_s)
        return gated_samples(stage, shots, pace, deadline=deadline, target_s=target_s)

    def _batch_s(self, shots: Sequence[Shot]) -> float:
        self.stage.synchronize()
        started = self._clock()
        for calls in range(1, 6):
            shots[calls % len(shots)]()
            if self._clock() - started > 0.02:
                break
        self.stage.synchronize()
        return (self._clock() - started) / calls

    def _taken_pool(self) -> torch.Tensor:
        if self._pool is None:
            free, _ = torch.cuda.mem_get_info(self.stage.device)
            size = min(POOL_BYTES, int(free * POOL_SHARE))
            self._pool = torch.empty(size, dtype=torch.uint8, device=self.stage.device)
        return self._pool
