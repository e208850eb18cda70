"""Nsight Compute beside the verdict: the slower cells' calls counted once on each side, where ncu is there."""

import json
import time
from collections.abc import Sequence

from solwatch.app.session import Services, Session
from solwatch.app.sides import Bench, Side
from solwatch.model.plain import plain
from solwatch.model.why import Profile, ProfilePair
from solwatch.workspace.cuda_tools import ToolFailed, find_tool, run_tool
from solwatch.workspace.ncu import ncu_command, ncu_profiles

MOST_CELLS = 3
LIMIT_S = 90.0
"""For one cell on one side: importing torch takes most of it."""

TOTAL_S = 300.0


def profiled(services: Services, ready: Session, keys: Sequence[str]) -> tuple[dict[str, ProfilePair], list[str]]:
    """Return what ncu counted of the first few of ``keys``, worst first, and a line for what it could not count.

    The first refusal ends it: a GPU that may not be profiled may not be for the next cell either.
    """
    if not keys or ready.base is None:
        return {}, []
    ncu = find_tool("ncu", services.environment)
    if ncu is None:
        return {}, []
    if _is_slice(ready):
        return {}, ["ncu was not run: the device is a slice (MIG) of a GPU, whose counters it shares"]
    found: dict[str, ProfilePair] = {}
    left = len(keys) - MOST_CELLS
    notes = [f"ncu was run for the {MOST_CELLS} slowest cells, not for {left} more"] if left > 0 else []
    deadline = time.monotonic() + TOTAL_S
    for key in keys[:MOST_CELLS]:
        if time.monotonic() > deadline:
            return found, [*notes, f"ncu was not run for all cells: {TOTAL_S:g} s were up"]
        services.say(f"ncu looks at {plain(key)}")
        try:
            head, base = (_profiles(ncu, ready.bench, built.side, key) for built in (ready.head, ready.base))
        except ToolFailed as error:
            return found, [*notes, plain(str(error), 300)]
        found[key] = ProfilePair(head=head, base=base)
    return found, notes


def _is_slice(ready: Session) -> bool:
    return any((gpu.uuid or "").startswith("MIG") for gpu in ready.header.gpus)


def _profiles(ncu: str, bench: Bench, side: Side, key: str) -> list[Profile]:
    server = bench.server_of(side)
    asked = {
        "path": list(side.path),
        "benchmarks_dir": str(bench.benchmarks_dir),
        "device": bench.device,
        "key": key,
        "seed": bench.seed,
    }
    target = [server.python, "-m", "solwatch.app.profiled_call", json.dumps(asked)]
    environment = {**server.environment, **bench.caches_of(side, 0)}
    return ncu_profiles(run_tool(ncu_command(ncu, target), limit_s=LIMIT_S, environment=environment))
