"""What a cell's ``explain`` says of its call, as text that can be kept and compared."""

import traceback
from collections.abc import Mapping
from typing import Any

from solwatch.model.cell import Cell
from solwatch.model.plain import plain

MOST_ENTRIES = 20
MOST_CHARACTERS = 80


def plan_of(cell: Cell, device: str) -> dict[str, str]:
    """Return what the call would run on ``device``; empty where the cell doesn't say, or can't with this build."""
    if cell.explain is None:
        return {}
    try:
        said: Mapping[str, Any] = cell.explain(device)
        entries = list(said.items())[:MOST_ENTRIES]
        return {plain(str(name), MOST_CHARACTERS): _text(value) for name, value in entries if value is not None}
    except BaseException:  # a build of another time may not have it: a plan is shown, never needed
        traceback.print_exc()
        return {}


def _text(value: Any) -> str:
    text = "×".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return plain(text, MOST_CHARACTERS)
