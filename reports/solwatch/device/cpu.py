"""Measuring on the processor: the same path as on a GPU, with the wall clock as its timer."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from solwatch.device.caches import CacheWatch
from solwatch.device.cpu_ceilings import measure_cpu_ceilings
from solwatch.device.host import (
    available_memory_bytes,
    host_telemetry,
    last_level_cache_bytes,
    processor_name,
)
from solwatch.device.placement import Placement
from solwatch.device.preparing import first_call
from solwatch.device.wall import calls_per_sample, no_garbage_collection, wall_samples
from solwatch.device.warmup import warm_up
from solwatch.model.cell import Cell, Timer
from solwatch.model.errors import MachineError
from solwatch.model.fingerprint import MEASURING_PROTOCOL, Fingerprint
from solwatch.model.protocol import EnergyMeasured, Findings, Prepared
from solwatch.model.record import Block, Ceilings

MOST_POOL_BYTES = 512 << 20
ROTATION_SHARE = 5 / 4
"""Of the last-level cache: what the sets in rotation cover, so that none is in a cache when its turn comes."""

WARM_UP_LIMIT_S = 30.0
DRAW_SHARE = 0.25
"""At most this fraction of measuring goes into copying buffers to new places."""


def _rotation_bytes() -> int:
    return int(last_level_cache_bytes() * ROTATION_SHARE)


def _default_threads() -> int:
    return max(1, len(os.sched_getaffinity(0)) // 2)


@dataclass
class _PreparedCell:
    cell: Cell
    placement: Placement
    sets: list[dict[str, Any]]
    draw_s: float
    call_s: float
    listing: frozenset[tuple[str, int]]
    undrawn_s: float = 0.0


class CpuDevice:
    """One processor, with as many threads as ``OMP_NUM_THREADS`` says, else half of the cores.

    Not all of them: a parallel loop waits for its slowest thread, so that any other process on the machine turns
    up in every call as a whole time slice. The other half of the cores is where other processes can go.
    """

    def __init__(self, *, seed: int, clock: Callable[[], float] = time.perf_counter) -> None:
        """Open the processor; ``seed`` draws the places of buffers."""
        if "OMP_NUM_THREADS" not in os.environ:
            torch.set_num_threads(_default_threads())
        self._clock = clock
        self._seed = seed
        self._prepared_count = 0
        self._caches = CacheWatch(os.environ)
        self._pool: torch.Tensor | None = None
        self._prepared: _PreparedCell | None = None

    def fingerprint(self) -> Fingerprint:
        """Return processor, threads and torch; what a CPU has no word for is ``None``."""
        threads = torch.get_num_threads()
        return Fingerprint(
            device="cpu",
            model=f"{processor_name()}, {threads} thread{'' if threads == 1 else 's'}",
            driver=None,
            vbios=None,
            power_limit_w=None,
            ecc=None,
            clock_lock=None,
            cuda=None,
            torch=str(torch.__version__),
            protocol=MEASURING_PROTOCOL,
        )

    def ceilings(self, dtypes: list[str]) -> Ceilings:
        """Measure the sustained ceilings; takes about 1.5 s for a dtype and 1 s for the bandwidth."""
        return measure_cpu_ceilings(dtypes, self._clock)

    def prepare(self, cell: Cell, *, seed: int, check: bool, findings: Findings | None = None) -> Prepared:
        """Make the inputs, check the result if asked, warm up. Raises what the cell raises."""
        self.release()
        self._prepared_count += 1
        source = cell.make_inputs("cpu", seed)
        placement = Placement(
            source,
            self._taken_pool(),
            seed=self._seed * 1_000_003 + self._prepared_count,
            most_sets=24,
            rotation_bytes=_rotation_bytes(),
        )
        started = self._clock()
        sets = placement.draw()
        draw_s = self._clock() - started
        first_call(cell, sets[0], check=check)
        warm = warm_up(lambda: self._batch_s(cell, sets), self._caches, self._clock, limit_s=WARM_UP_LIMIT_S)
        self._prepared = _PreparedCell(cell, placement, sets, draw_s, warm.call_s, self._caches.listing())
        return Prepared(work=cell.work, findings=Findings(timer=Timer.WALL), caches=self._caches.digest())

    def measure(self, target_s: float) -> Block:
        """Take samples for about ``target_s`` seconds, three at least, from buffers that no cache holds."""
        prepared = self._need_prepared()
        before = host_telemetry()
        started = self._clock()
        self._draw_when_due(prepared, target_s)
        with torch.no_grad(), no_garbage_collection():
            prepared.cell.call(**prepared.sets[-1])
            number = calls_per_sample(prepared.call_s)
            samples_s, null_s = wall_samples(
                prepared.cell.call, prepared.sets, self._clock, number=number, deadline=started + target_s
            )
        after = host_telemetry()
        asked = prepared.cell.timer
        return Block(
            samples_s=samples_s,
            null_s=null_s,
            number=number,
            timer=Timer.WALL,
            fallback=None if asked in (None, Timer.WALL) else f"a CPU has no timer {asked}, only {Timer.WALL}",
            sm_clock_hz=after.sm_clock_hz,
            before=before,
            after=after,
            voids=[] if self._caches.listing() == prepared.listing else ["cache_changed"],
        )

    def get_ready(self) -> None:
        """Do nothing: on a CPU it would disturb the other side."""

    def measure_energy(self, loop_s: float) -> EnergyMeasured:
        """Call the cell on one buffer set for ``loop_s`` seconds; a CPU has no energy counter here."""
        prepared = self._need_prepared()
        tensors = prepared.sets[0]
        calls = 0
        with torch.no_grad():
            prepared.cell.call(**tensors)
            started = self._clock()
            while True:
                prepared.cell.call(**tensors)
                calls += 1
                elapsed = self._clock() - started
                if elapsed >= loop_s:
                    return EnergyMeasured(hot_s=elapsed / calls, energy_j=None)

    def release(self) -> None:
        """Forget the prepared cell; the pool stays for the next one."""
        self._prepared = None

    def _need_prepared(self) -> _PreparedCell:
        if self._prepared is None:
            raise MachineError("no cell is prepared on cpu: its preparation failed or it was released")
        return self._prepared

    def _taken_pool(self) -> torch.Tensor:
        if self._pool is None:
            # Twice the rotation, so that sets have room to wander. Filling it costs a second for each gigabyte, in
            # every process, but without that the first cell would pay for the page faults of all.
            size = min(2 * _rotation_bytes(), MOST_POOL_BYTES, available_memory_bytes() // 4)
            self._pool = torch.empty(size, dtype=torch.uint8).fill_(1)
        return self._pool

    def _draw_when_due(self, prepared: _PreparedCell, target_s: float) -> None:
        prepared.undrawn_s += target_s
        if prepared.draw_s > DRAW_SHARE * prepared.undrawn_s:
            return
        started = self._clock()
        prepared.sets = prepared.placement.draw()
        prepared.draw_s = self._clock() - started
        prepared.undrawn_s = 0.0

    def _batch_s(self, cell: Cell, sets: list[dict[str, Any]]) -> float:
        started = self._clock()
        with torch.no_grad():
            for calls in range(1, 6):
                cell.call(**sets[calls % len(sets)])
                elapsed = self._clock() - started
                if elapsed > 0.02:
                    break
        return elapsed / calls
