"""Which of a suite's cells a command measures."""

import re
from collections.abc import Iterable, Sequence

from solwatch.model.cell import CellInfo, CellSelection
from solwatch.model.errors import RequestError

EVERY_CELL = "all"
USUAL_SETS = ("standard", "quick")
"""Sets that commands ask for by themselves: a suite without any sets has all its cells in them."""


def chosen_by_hand(selection: CellSelection) -> bool:
    """Return whether ``selection`` holds a name that somebody typed and may have mistyped."""
    return bool(selection.patterns) or selection.named_set not in (None, EVERY_CELL, *USUAL_SETS)


def select(cells: Iterable[CellInfo], selection: CellSelection, *, device_type: str) -> list[CellInfo]:
    """Return the cells on ``device_type`` that ``selection`` names; a benchmark without sets is in every set.

    Raises ``RequestError`` when a pattern is no regular expression.
    """
    here = [cell for cell in cells if cell.device in (None, device_type)]
    expressions = expressions_of(selection)
    if expressions:
        return [cell for cell in here if any(expression.search(cell.key) for expression in expressions)]
    here = [cell for cell in here if cell.gated]
    name = selection.named_set
    if name is None or name == EVERY_CELL:
        return here
    divided = {cell.benchmark for cell in here if cell.sets}
    return [cell for cell in here if name in cell.sets or cell.benchmark not in divided]


def require_known_set(cells: Sequence[CellInfo], selection: CellSelection, *, device_type: str) -> None:
    """Raise ``RequestError`` when ``selection`` names a set that the suite with ``cells`` does not have."""
    name = selection.named_set
    if selection.patterns or name is None or name == EVERY_CELL:
        return
    sets = {(cell.device, named) for cell in cells if cell.gated for named in cell.sets}
    everywhere = {named for _, named in sets}
    here = {named for device, named in sets if device in (None, device_type)}
    if name in (here or everywhere.union(USUAL_SETS)):
        return
    if not sets:
        raise RequestError(f"there is no set {name!r}: this suite has no sets, -b chooses cells by name")
    there_are = ", ".join([*sorted(here or everywhere), EVERY_CELL])
    raise RequestError(f"no cell on {device_type} is in the set {name!r}; the sets are {there_are}")


def nothing_selected(selection: CellSelection, device_type: str, notes: Sequence[str]) -> str:
    """Return the line that says that ``selection`` names no cell on ``device_type``."""
    wanted = f"matches {', '.join(selection.patterns)}" if selection.patterns else f"is in set {selection.named_set!r}"
    return f"nothing to measure: no cell on {device_type} {wanted}" + (f" ({'; '.join(notes)})" if notes else "")


def expressions_of(selection: CellSelection) -> list[re.Pattern[str]]:
    """Return the selection's patterns compiled; raises ``RequestError`` for one that is no regular expression."""
    return [_compiled(pattern) for pattern in selection.patterns]


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise RequestError(f"{pattern!r} is no regular expression: {error}") from None
