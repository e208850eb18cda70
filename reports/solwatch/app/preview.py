"""A look at the suites before anything is built: what no cell answers to is refused before a long build."""

from collections.abc import Sequence
from pathlib import Path

from solwatch.app.processes import CellFailed, ForkServer
from solwatch.app.selection import nothing_selected, require_known_set, select
from solwatch.model.cell import CellInfo, CellSelection
from solwatch.model.errors import NothingMeasuredError
from solwatch.model.protocol import Discover, Discovered


def require_offered(
    server: ForkServer, suites: Sequence[Path], selection: CellSelection, *, device_type: str, limit_s: float
) -> None:
    """Raise ``RequestError`` for a set, ``NothingMeasuredError`` for patterns that no cell answers to.

    ``suites``: head's first. One that looks for a module that isn't there, or doesn't import, may have other cells
    once it is built: then nothing is raised, the survey tells.
    """
    seen = []
    for suite in suites:
        cells, whole = cells_seen(server, suite, limit_s)
        if not whole:
            return
        seen.append(cells)
    require_known_set(seen[0], selection, device_type=device_type)
    if not any(select(cells, selection, device_type=device_type) for cells in seen):
        raise NothingMeasuredError(nothing_selected(selection, device_type, []))


def cells_seen(server: ForkServer, suite: Path, limit_s: float) -> tuple[list[CellInfo], bool]:
    """Return the cells of a suite of which nothing is built, of all devices, and whether these are all there are."""
    worker = server.fork((), {})
    try:
        found = worker.ask(Discover(benchmarks_dir=str(suite), device="cpu"), Discovered, limit_s)
    except CellFailed:
        return [], False
    finally:
        worker.close()
    return found.cells, not (found.import_failures or found.modules_missed)
