"""What there is to measure: both suites' cells, the work they do, the device and its ceilings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from solwatch.app.processes import CellFailed
from solwatch.app.selection import select
from solwatch.app.sides import Bench, Side
from solwatch.model.cell import CellInfo, CellSelection, Work
from solwatch.model.errors import MachineError, NothingMeasuredError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.protocol import CeilingsMeasured, Describe, Described, MeasureCeilings, Opened
from solwatch.model.record import Ceilings

CEILINGS_LIMIT_S = 300.0
"""Measuring ceilings is our own work, not a kernel's that might hang: ``hang_s`` says nothing about it."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What a run will measure. ``vanished``: cells that base's suite selects and head's doesn't have."""

    cells: list[CellInfo]
    vanished: list[CellInfo]
    work: dict[str, Work]
    fingerprint: Fingerprint
    ceilings: Ceilings
    notes: list[str] = field(default_factory=list)


def survey(bench: Bench, head: Side, base: tuple[Side, Path] | None, selection: CellSelection) -> Survey:
    """List head's cells and those only base has; measure the ceilings for the dtypes in use.

    ``base``: the side and the folder of its own suite.
    Raises ``NothingMeasuredError`` when no cell is selected and ``MachineError`` when a side doesn't start.
    """
    device_type = bench.device.split(":")[0]
    opened, cells, work, ceilings = _head(bench, head, selection, device_type)
    vanished: list[CellInfo] = []
    if base is not None:
        present = {cell.key for cell in opened.cells}
        theirs = _cells_of(bench, *base)
        vanished = [
            cell
            for cell in select(theirs, selection, device_type=device_type)
            if cell.key not in present and cell.gated
        ]
    notes = [f"{name} does not import: {message}" for name, message in sorted(opened.import_failures.items())]
    if not cells and not vanished:
        raise NothingMeasuredError(_nothing(selection, device_type, notes))
    return Survey(
        cells=cells, vanished=vanished, work=work, fingerprint=opened.fingerprint, ceilings=ceilings, notes=notes
    )


def _head(
    bench: Bench, head: Side, selection: CellSelection, device_type: str
) -> tuple[Opened, list[CellInfo], dict[str, Work], Ceilings]:
    try:
        worker, opened = bench.start(head, 0)
        cells = select(opened.cells, selection, device_type=device_type)
        suite_keys = [cell.key for cell in cells if cell.kind == "suite"]
        described = worker.ask(Describe(keys=suite_keys), Described, bench.hang_s)
        dtypes = sorted({work.dtype for work in described.work.values()})
        ceilings = Ceilings(source="not measured: no cell says what work it does")
        if dtypes:
            ceilings = worker.ask(MeasureCeilings(dtypes=dtypes), CeilingsMeasured, CEILINGS_LIMIT_S).ceilings
        worker.close()
    except CellFailed as error:
        raise MachineError(
            f"the suite of head does not open on {bench.device}: {error.failure.kind}: {error.failure.message}"
        ) from None
    return opened, cells, described.work, ceilings


def _cells_of(bench: Bench, base: Side, benchmarks: Path) -> list[CellInfo]:
    """Return the cells of base's own suite; one that doesn't open has none."""
    try:
        worker, opened = bench.start(base, 1, benchmarks_dir=benchmarks)
    except CellFailed:
        return []
    worker.close()
    return opened.cells


def _nothing(selection: CellSelection, device_type: str, notes: Sequence[str]) -> str:
    wanted = f"matches {', '.join(selection.patterns)}" if selection.patterns else f"is in set {selection.named_set!r}"
    return f"nothing to measure: no cell on {device_type} {wanted}" + (f" ({'; '.join(notes)})" if notes else "")
