"""Measures all cells of one asv class in processes of their own, for asv's ``setup_cache``."""

import dataclasses
import os
import secrets
import sys
import tempfile
from pathlib import Path
from typing import Any

from solwatch.app.asking import ceilings_for, open_suite, work_of
from solwatch.app.clock import SystemClock
from solwatch.app.device_lock import device_lock
from solwatch.app.limits import keep_limits, limit_rows
from solwatch.app.processes import CellFailed, ForkServer
from solwatch.app.rounds import Plan, RoundRunner
from solwatch.app.sides import Bench, Side
from solwatch.asvio.environment import RESULTS_VARIABLE
from solwatch.asvio.machine import machine_info
from solwatch.device.places import places_of
from solwatch.model.cell import CellInfo, Work
from solwatch.model.config import Config
from solwatch.model.errors import MachineError, SolwatchError
from solwatch.model.plain import plain_lines
from solwatch.model.record import Ceilings, Round
from solwatch.model.record import Side as SideRecord
from solwatch.sol.score import CeilingExceededError, score
from solwatch.stats.centre import trimmed_mean

ROUNDS = 3
PLANS = {
    "cuda": Plan(turns=4, block_s=0.01, energy_s=0.5),
    "cpu": Plan(turns=4, block_s=0.04),
}


def measure_class(benchmarks_dir: Path, benchmark: str, device_type: str) -> dict[str, Any]:
    """Return for each cell of ``benchmark`` its samples (``time_s``, ``sol_gap``, ``hot_energy_j``) or ``error``.

    Empty when this machine's device is of another type. A sample is a block's trimmed mean; blocks come from
    ``ROUNDS`` fresh processes. Raises ``MachineError`` when the suite doesn't open at all.
    """
    places = places_of("auto")
    device = places[0].device
    if device.split(":")[0] != device_type:
        return {}
    with tempfile.TemporaryDirectory(prefix="solwatch-") as scratch:
        home = Path(scratch)
        with device_lock(places, print), ForkServer(dict(os.environ), home / "logs") as server:
            bench = Bench(
                server=server,
                benchmarks_dir=benchmarks_dir,
                device=device,
                seed=secrets.randbits(31),
                caches_dir=home / "caches",
                hang_s=Config().hang_s,
            )
            return _measured(bench, benchmark, PLANS[device_type])


def _measured(bench: Bench, benchmark: str, plan: Plan) -> dict[str, Any]:
    side = Side(name="head", path=tuple(sys.path))
    cells, work, ceilings, model = _opened(bench, side, benchmark)
    _keep_limits(cells, work, ceilings, model)
    rounds = []
    with RoundRunner(bench, side, None, clock=SystemClock()) as runner:
        for index in range(ROUNDS):
            energy_s = plan.energy_s if index == 0 else None
            round_plan = dataclasses.replace(plan, energy_s=energy_s, more=index + 1 < ROUNDS)
            rounds.append(runner.run(index, cells, round_plan, on_cell=lambda key: None))
    return {cell.key: _samples(cell.key, rounds, work.get(cell.key), ceilings) for cell in cells}


def _keep_limits(cells: list[CellInfo], work: dict[str, Work], ceilings: Ceilings, model: str) -> None:
    """Keep what the site needs beside asv's results; they are worth more than it, so failing is only said."""
    folder = os.environ.get(RESULTS_VARIABLE)
    if not folder:
        return
    try:
        machine = machine_info()["machine"]
        rows = limit_rows(cells, work, ceilings, machine=machine, model=model, taken_at=SystemClock().now())
        keep_limits(Path(folder), rows)
    except SolwatchError as error:
        print(plain_lines(f"warning: the limits were not kept: {error}"), file=sys.stderr)


def _opened(bench: Bench, side: Side, benchmark: str) -> tuple[list[CellInfo], dict[str, Work], Ceilings, str]:
    try:
        opened = open_suite(bench, side)
        cells = [cell for cell in opened.cells if cell.benchmark == benchmark and cell.kind == "suite"]
        work = work_of(bench, [side], [cell.key for cell in cells])
        ceilings = ceilings_for(bench, side, work.values())
    except CellFailed as error:
        raise MachineError(f"the suite does not open on {bench.device}: {error.failure.message}") from None
    return cells, work, ceilings, opened.fingerprint.model


def _samples(key: str, rounds: list[Round], work: Work | None, ceilings: Ceilings) -> dict[str, Any]:
    sides = [cell.head for round_ in rounds for cell in round_.cells if cell.key == key]
    failure = next((side.failure for side in sides if side.failure), None)
    if failure:
        return {"error": f"{failure.kind}: {failure.message}"}
    times_s = [centre_s for side in sides for centre_s in _centres(side)]
    gaps, no_gap = _gaps(work, times_s, ceilings)
    return {
        "time_s": times_s,
        "no_time_s": "no time: every block was void",
        "sol_gap": gaps,
        "no_sol_gap": no_gap,
        "hot_energy_j": [side.energy_j for side in sides if side.energy_j is not None],
        "no_hot_energy_j": "no energy: this device has no energy counter",
    }


def _centres(side: SideRecord) -> list[float]:
    centres = (trimmed_mean(block.samples_s) for block in side.blocks if not block.voids)
    return [centre for centre in centres if centre is not None]


def _gaps(work: Work | None, times_s: list[float], ceilings: Ceilings) -> tuple[list[float], str]:
    """Return the gap of each time, and why there is none when there is none."""
    if work is None:
        return [], "no score: the suite does not say what work this cell does"
    try:
        scores = [score(work, time_s, ceilings) for time_s in times_s]
    except CeilingExceededError as error:
        return [], f"no score: {error}"
    gaps = [one.sol_gap for one in scores if one is not None and one.sol_gap is not None]
    if len(gaps) < len(times_s):  # without the times that beat the ceiling the rest would mislead
        gaps = []
    return gaps, f"no score: no ceiling for {work.dtype}, or a time beats the measured one"
