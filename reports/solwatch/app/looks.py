"""Looks at cells before measuring: each runs on each side, untimed, to show what it reads, compiles and tunes."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from solwatch.app.processes import CellFailed
from solwatch.app.sides import Bench, Side
from solwatch.device.caches import private_caches
from solwatch.model.protocol import Look, Looked, Watching, WatchReads

TUNING_IS_KEPT = {"TRITON_CACHE_AUTOTUNING": "1"}
"""Triton then writes the times that it chose by into its cache: caches that agree mean the same choice."""


def looked(bench: Bench, side: Side, keys: Sequence[str], watched: Path) -> dict[str, Looked]:
    """Return what was seen of each cell, in one process of ``side`` whose caches were empty at first.

    ``watched``: the folder below which files that are read are noted. A cell that fails ends the looking: it and
    those after it are missing.
    """
    caches = bench.caches_dir / "look"  # one place for both sides: Triton writes down where its files lie
    shutil.rmtree(caches, ignore_errors=True)
    found: dict[str, Looked] = {}
    worker = bench.server.fork(side.path, private_caches(caches) | TUNING_IS_KEPT)
    try:
        worker.ask(WatchReads(folder=str(watched)), Watching, bench.hang_s)
        bench.open(worker, side)
        for key in keys:
            # Head's results alone are checked: where both sides run the same code they are wrong together.
            look = Look(key=key, seed=bench.seed, check=side.name == "head")
            found[key] = worker.ask(look, Looked, bench.hang_s)
        worker.close()
    except CellFailed:
        pass  # the measured round says why
    finally:
        worker.end()
    return found
