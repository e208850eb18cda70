"""A suite's cells for pytest-benchmark: which there are here, and one of them made ready to be timed."""

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solwatch.app.builds import builder_for
from solwatch.app.device_lock import device_lock
from solwatch.app.kept_ceilings import ceilings_folder, kept_ceilings
from solwatch.app.selection import require_known_set, select
from solwatch.asvio.discovery import Discovery, discover
from solwatch.device.opening import open_device
from solwatch.device.places import places_of
from solwatch.model.cell import CellSelection
from solwatch.sol.score import CeilingExceededError, score
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import load_config


@dataclass(frozen=True)
class Ready:
    """A cell ready to be timed. ``call()`` does one call; ``facts(time_s)`` scores it for ``extra_info``."""

    call: Callable[[], Any]
    facts: Callable[[float], dict[str, Any]]


class PytestCells:
    """The cells of the suite in ``benchmarks_dir`` on this machine's device."""

    def __init__(self, benchmarks_dir: Path, *, named_set: str) -> None:
        """Build the working tree's op, which is the one measured unless one was imported before; list ``named_set``."""
        places = places_of("auto")
        self.device = places[0].device
        self._held = ExitStack()  # as long as this process measures
        self._held.enter_context(device_lock(places, lambda text: print(text, file=sys.stderr)))
        repository = Repository.open(benchmarks_dir)
        config = load_config(repository.root, {})
        builder = builder_for(repository, config, self.device.split(":")[0], os.environ)
        sys.path.insert(0, str(builder.provide(repository.working_tree()).path))
        self._discovery: Discovery = discover(str(benchmarks_dir))
        selection, device_type = CellSelection(named_set), self.device.split(":")[0]
        require_known_set(self._discovery.infos, selection, device_type=device_type)
        chosen = select(self._discovery.infos, selection, device_type=device_type)
        self.keys = [cell.key for cell in chosen if cell.kind == "suite"]
        self._ceilings: dict[str, Any] = {}

    def timer(self) -> Callable[[], float] | None:
        """Return the clock to time with, ``None`` for pytest-benchmark's own (a CPU)."""
        if self.device == "cpu":
            return None
        from solwatch.device.event_timer import EventTimer

        return EventTimer()

    def ready(self, key: str) -> Ready:
        """Make a cell's inputs, check one call against the reference, and return what to time."""
        cell = self._discovery.suite_cell(key)
        tensors = cell.make_inputs(self.device, 0)
        cell.call(**tensors)
        cell.check(**tensors)
        ceilings = self._limits(cell.work.dtype)
        gap = "hot caches" + ("" if self.device == "cpu" else ", the launch gap included")

        def facts(time_s: float) -> dict[str, Any]:
            try:
                scored = score(cell.work, time_s, ceilings)
            except CeilingExceededError as error:
                return {"timing": gap, "no_sol_score": f"a hot time is no cold one: {error}"}
            if scored is None:
                return {"timing": gap}
            return {
                "timing": gap,
                "sol_score": scored.sol_score,
                "t_sol_s": scored.t_sol_s,
                "mfu": scored.mfu,
                "mbu": scored.mbu,
            }

        return Ready(call=lambda: cell.call(**tensors), facts=facts)

    def _limits(self, dtype: str) -> Any:
        if dtype not in self._ceilings:
            device = open_device(self.device, seed=0)
            self._ceilings[dtype] = kept_ceilings(ceilings_folder(), device.fingerprint(), [dtype], device.ceilings)
        return self._ceilings[dtype]
