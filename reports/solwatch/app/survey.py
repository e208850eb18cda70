"""What there is to measure: both suites' cells, the work they do, the device and its ceilings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from solwatch.app.asking import ceilings_for, open_suite, work_of
from solwatch.app.processes import CellFailed
from solwatch.app.selection import nothing_selected, require_known_set, select
from solwatch.app.sides import Bench, Side
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.model.cell import CellInfo, CellSelection, Work
from solwatch.model.config import CellOverride
from solwatch.model.errors import MachineError, NothingMeasuredError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.protocol import Opened
from solwatch.model.record import Ceilings, Failure

_MISSING = Failure(kind="missing", message="the suite of head does not have this benchmark")


@dataclass(frozen=True, kw_only=True)
class Vanished:
    """A gated cell that base's suite selects and head's doesn't offer, and why not."""

    info: CellInfo
    failure: Failure


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What a run will measure, and what it need not: ``vanished`` cells are head's failure already."""

    cells: list[CellInfo]
    vanished: list[Vanished]
    work: dict[str, Work]
    fingerprint: Fingerprint
    ceilings: Ceilings
    notes: list[str] = field(default_factory=list)


def survey(
    bench: Bench,
    head: Side,
    base: tuple[Side, Path] | None,
    selection: CellSelection,
    overrides: Sequence[CellOverride] = (),
) -> Survey:
    """List head's cells and those only base has; measure the ceilings for the dtypes in use.

    ``base``: the side and the folder of its own suite. Where that opens and head's doesn't, head broke it.
    Raises ``NothingMeasuredError`` when no cell is selected and ``MachineError`` when neither side opens.
    """
    device_type = bench.device.split(":")[0]
    theirs = _of_base(bench, *base) if base else None
    try:
        ours = open_suite(bench, head)
    except CellFailed as error:
        said = f"the suite of head does not open on {bench.device}: {error.failure.kind}: {error.failure.message}"
        if theirs is None:
            raise MachineError(said) from None
        return _all_vanished(theirs, selection, device_type, Failure(kind=error.failure.kind, message=said))
    require_known_set(ours.cells, selection, device_type=device_type)
    cells = select(ours.cells, selection, device_type=device_type)
    vanished = []
    if theirs is not None:
        present = {cell.key for cell in ours.cells}
        vanished = [
            Vanished(info=cell, failure=_absence(cell, ours.import_failures, bench.benchmarks_dir.name))
            for cell in select(theirs.cells, selection, device_type=device_type)
            if cell.key not in present and cell.gated
        ]
    notes = [f"{name} does not import: {message}" for name, message in sorted(ours.import_failures.items())]
    notes += _idle_overrides(overrides, ours, theirs)
    if not cells and not vanished:
        raise NothingMeasuredError(nothing_selected(selection, device_type, notes))
    sides = [head, base[0]] if base else [head]
    work = work_of(bench, sides, [cell.key for cell in cells if cell.kind == "suite"])
    return Survey(
        cells=cells,
        vanished=vanished,
        work=work,
        fingerprint=ours.fingerprint,
        ceilings=_ceilings(bench, sides[-1], work),
        notes=notes,
    )


def _idle_overrides(overrides: Sequence[CellOverride], ours: Opened, theirs: Opened | None) -> list[str]:
    """Return a line for each override that matches no cell of either suite: a mistyped floor would be lost."""
    keys = [NULL_KERNEL, *(cell.key for opened in (ours, theirs) if opened for cell in opened.cells)]
    return [
        f"[[tool.solwatch.cells]] match = {override.match!r} matches no cell of the suite: it sets nothing"
        for override in overrides
        if not any(fnmatchcase(key, override.match) for key in keys)
    ]


def _of_base(bench: Bench, base: Side, benchmarks: Path) -> Opened | None:
    try:
        return open_suite(bench, base, benchmarks)
    except CellFailed:
        return None


def _all_vanished(theirs: Opened, selection: CellSelection, device_type: str, failure: Failure) -> Survey:
    require_known_set(theirs.cells, selection, device_type=device_type)
    cells = [cell for cell in select(theirs.cells, selection, device_type=device_type) if cell.gated]
    if not cells:
        raise NothingMeasuredError(nothing_selected(selection, device_type, [failure.message]))
    return Survey(
        cells=[],
        vanished=[Vanished(info=cell, failure=failure) for cell in cells],
        work={},
        fingerprint=theirs.fingerprint,
        ceilings=Ceilings(source="not measured: head's suite does not open"),
    )


def _absence(cell: CellInfo, import_failures: Mapping[str, str], suite: str) -> Failure:
    """Return why head lacks ``cell``: its module, its class or the whole ``suite`` doesn't import, or it is gone."""
    for name, message in import_failures.items():
        if name == suite or f"{cell.benchmark}.".startswith(f"{name}."):
            return Failure(kind="raised", message=f"{name} does not import: {message}")
    return _MISSING


def _ceilings(bench: Bench, side: Side, work: Mapping[str, Work]) -> Ceilings:
    try:
        return ceilings_for(bench, side, work.values())
    except CellFailed as error:
        raise MachineError(
            f"the ceilings of {bench.device} can't be measured: {error.failure.kind}: {error.failure.message}"
        ) from None
