"""Which of a suite's cells a command measures."""

import re
from collections.abc import Iterable

from solwatch.model.cell import CellInfo, CellSelection
from solwatch.model.errors import RequestError

EVERY_CELL = "all"


def select(cells: Iterable[CellInfo], selection: CellSelection, *, device_type: str) -> list[CellInfo]:
    """Return the cells on ``device_type`` that ``selection`` names; a benchmark without sets is in every set.

    Raises ``RequestError`` when a set doesn't exist or a pattern is no regular expression.
    """
    here = [cell for cell in cells if cell.device in (None, device_type)]
    expressions = expressions_of(selection)
    if expressions:
        return [cell for cell in here if any(expression.search(cell.key) for expression in expressions)]
    here = [cell for cell in here if cell.gated]
    name = selection.named_set
    if name is None or name == EVERY_CELL:
        return here
    known = {named for cell in here for named in cell.sets}
    if known and name not in known:
        raise RequestError(
            f"no cell on {device_type} is in the set {name!r}; the sets are {', '.join(sorted(known))}, {EVERY_CELL}"
        )
    divided = {cell.benchmark for cell in here if cell.sets}
    return [cell for cell in here if name in cell.sets or cell.benchmark not in divided]


def expressions_of(selection: CellSelection) -> list[re.Pattern[str]]:
    """Return the selection's patterns compiled; raises ``RequestError`` for one that is no regular expression."""
    return [_compiled(pattern) for pattern in selection.patterns]


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise RequestError(f"{pattern!r} is no regular expression: {error}") from None
