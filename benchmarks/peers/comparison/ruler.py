"""Times all contenders of a cell in turn, on the same buffers, with solwatch's own stage, samplers and placement."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks.peers.comparison.peer import Case, Gpu, Peer
from benchmarks.peers.comparison.result import CellResult, Contender
from benchmarks.peers.comparison.sweep import IN_PLACE, Turn, block, choose
from benchmarks.peers.comparison.watchdog import Watchdog
from benchmarks.projection import fused_cell
from solwatch.device import nvml
from solwatch.device.clock_probe import ClockProbe
from solwatch.device.cuda_ceilings import measure_cuda_ceilings
from solwatch.device.placement import Placement
from solwatch.device.sampler import GATE_OPENED
from solwatch.device.stage import Stage
from solwatch.device.wall import no_garbage_collection
from solwatch.device.watching import Watch, void_reasons
from solwatch.model.cell import Work
from solwatch.model.errors import MachineError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Ceilings
from solwatch.sol.score import CeilingExceededError, score, sol_limit
from solwatch.stats.centre import trimmed_mean

POOL_BYTES = 24 << 30
POOL_SHARE = 0.4
ROTATION_BYTES = 2 << 30
MOST_SETS = 48
ROUND_LIMIT_S = 60.0
LEAST_SETS = 5
"""A block takes at least four samples and a lead-in, and no set that is overwritten may be used twice in it."""


@dataclass
class _Timed:
    """A contender on its way: its turn, and what its rounds gave."""

    turn: Turn
    blocks_s: list[float]


class Ruler:
    """One GPU made ready for the comparison; ``seed`` draws data, places and the order of turns."""

    def __init__(self, index: int, *, seed: int, watchdog: Watchdog) -> None:
        """Open GPU ``index`` as torch counts it; raises ``MachineError``."""
        self._watchdog = watchdog
        self.stage = Stage(index)
        properties = self.stage.properties
        self.gpu = Gpu(index, (properties.major, properties.minor), properties.multi_processor_count)
        self._nvml = nvml.Gpu(f"GPU-{properties.uuid}")
        self._probe = ClockProbe(self.stage.kernels, self.stage.device)
        self._seed = seed
        free, _ = torch.cuda.mem_get_info(self.stage.device)
        self._pool = torch.empty(min(POOL_BYTES, int(free * POOL_SHARE)), dtype=torch.uint8, device=self.stage.device)

    def fingerprint(self) -> Fingerprint:
        """Return what a time taken here belongs to."""
        model = self.stage.properties.name
        return self._nvml.fingerprint(model=model, cuda=torch.version.cuda, torch=str(torch.__version__))

    def ceilings(self, dtype: str) -> Ceilings:
        """Return the rated ceilings, and those measured in half a second."""
        return measure_cuda_ceilings(self.stage, self._nvml, [dtype])

    def compare(self, case: Case, peers: Sequence[Peer], ceilings: Ceilings, rounds: int) -> CellResult:
        """Choose each peer's best candidate, check it, then time all in ``rounds`` rounds.

        Raises ``MachineError`` when the cell doesn't fit the GPU or a contender has broken the CUDA context.
        """
        chance = random.Random(f"{self._seed} {case}")
        with torch.cuda.stream(self.stage.stream), torch.no_grad():
            placement = self._placed(case, chance)
            found = [choose(self.stage, peer, case, placement, self._watchdog) for peer in peers]
            timed = [_Timed(each, []) for each in found if isinstance(each, Turn)]
            null_s, clocks_hz, voided = self._rounds(timed, placement, rounds, chance)
        del placement
        torch.cuda.empty_cache()
        work = fused_cell(case.tokens, case.shape, case.dtype).work
        limit = sol_limit(work, ceilings)
        by_peer = {one.turn.peer: _contender(one, work, ceilings) for one in timed}
        return CellResult(
            tokens=case.tokens,
            layer=case.layer,
            n=case.shape.n,
            k=case.shape.k,
            work=work,
            t_sol_s=limit.t_sol_s if limit else None,
            null_s=trimmed_mean(null_s),
            sm_clock_hz=trimmed_mean(clocks_hz),
            contenders=[by_peer[each.peer] if isinstance(each, Turn) else each for each in found if each is not None],
            voided=voided,
        )

    def _placed(self, case: Case, chance: random.Random) -> Placement:
        cell = fused_cell(case.tokens, case.shape, case.dtype)
        source: dict[str, Any] = dict(cell.make_inputs(f"cuda:{self.gpu.index}", self._seed))
        source[IN_PLACE] = source["residual"].clone()
        set_bytes = sum(tensor.nbytes for tensor in source.values())
        placement = Placement(
            source,
            self._pool,
            seed=chance.randrange(1 << 30),
            most_sets=MOST_SETS,
            rotation_bytes=max(ROTATION_BYTES, LEAST_SETS * set_bytes),
        )
        if placement.count < LEAST_SETS:
            raise MachineError(
                f"{case}: {LEAST_SETS} buffer sets of {set_bytes / 1e6:.0f} MB don't fit the pool of "
                f"{self._pool.numel() / 1e9:.1f} GB: end what else uses the GPU, or leave the cell out with --tokens"
            )
        return placement

    def _rounds(
        self, timed: Sequence[_Timed], placement: Placement, rounds: int, chance: random.Random
    ) -> tuple[list[float], list[float], list[str]]:
        """Fill in the blocks of all contenders; returns null kernel, clocks, and what voided rounds."""
        stage = self.stage
        null_s: list[float] = []
        clocks_hz: list[float] = []
        voided: list[str] = []
        for number in range(rounds):
            sets = placement.draw()
            taken = {}
            watching = self._watchdog.watching(f"round {number}", ROUND_LIMIT_S)
            with watching, Watch(self._nvml) as watch, no_garbage_collection():
                self._probe.begin(stage.handle)
                for one in chance.sample(timed, len(timed)):
                    taken[one.turn.peer] = block(stage, one.turn, sets)
                self._probe.end(stage.handle)
                stage.synchronize()
            clock_hz = self._probe.clock_hz()
            watch.wait()
            voids = set(void_reasons(watch.before, watch.after, watch))
            voids |= {GATE_OPENED for samples in taken.values() if samples.voids}
            if voids:
                voided.append(f"round {number}: {', '.join(sorted(voids))}")
                continue
            if clock_hz is not None:
                clocks_hz.append(clock_hz)
            for one in timed:
                samples = taken[one.turn.peer]
                one.blocks_s.append(trimmed_mean(samples.samples_s) or 0.0)
                null_s += samples.null_s
        return null_s, clocks_hz, voided


def _contender(timed: _Timed, work: Work, ceilings: Ceilings) -> Contender:
    turn = timed.turn
    time_s, sol_score, failure = trimmed_mean(timed.blocks_s), None, None
    if time_s is None:
        failure = "every round was void"
    else:
        try:
            scored = score(work, time_s, ceilings)
            sol_score = scored.sol_score if scored else None
        except CeilingExceededError as error:
            time_s, failure = None, str(error)
    return Contender(
        peer=turn.peer,
        candidate=turn.candidate.name,
        time_s=time_s,
        blocks_s=timed.blocks_s,
        sol_score=sol_score,
        launches=turn.launches,
        timer=turn.timer,
        swept=turn.swept,
        failure=failure,
    )
