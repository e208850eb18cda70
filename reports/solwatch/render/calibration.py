"""A calibration as text: which min effects are honest, the cells, settings ready to be pasted."""

import json
from collections.abc import Sequence

from solwatch.judge.calibration import CalibratedCell, Calibration, matching
from solwatch.model.plain import hidden, plain
from solwatch.render.setting import model_text
from solwatch.render.tables import text_table
from solwatch.render.units import ABSENT, percentage, quantity

IN_PROJECT = "[[tool.solwatch.cells]]"
IN_OWN_FILE = "[[cells]]"


def render_calibration(found: Calibration, *, table: str = IN_PROJECT, width: int = 120) -> str:
    """Return the verdict first, the table second, settings and advice last.

    ``table``: the head of an override in the settings' file, ``IN_PROJECT`` or ``IN_OWN_FILE``.
    """
    header = found.header
    lines = [
        f"CALIBRATED  {_verdict(found.cells)}",
        f"{plain(header.head.sha[:8])} against itself, {found.rounds} rounds in {found.wall_s:.0f} s "
        f"on {model_text(header)}, seed {header.seed}",
        f"caught: gates that catch the min effect; catches: what {100 * found.caught_share:g} % of gates catch now; "
        "holds: the min effect that would be",
        "",
        _table(found.cells, width),
    ]
    advice = _advice(found.cells)
    if any(cell.changes for cell in found.cells):
        lines += ["", _settings(found, table)]
    return "\n".join([*lines, *([""] if advice else []), *(f"→ {line}" for line in advice)])


def _verdict(cells: Sequence[CalibratedCell]) -> str:
    known = [cell for cell in cells if cell.problem is None]
    honest = sum(cell.honest for cell in known)
    said = f"{honest} of {len(known)} cells hold their min effect"
    modes = sum(cell.two_modes for cell in cells)
    unknown = len(cells) - len(known)
    return said + (f", {modes} with two modes" if modes else "") + (f", {unknown} not known" if unknown else "")


def _table(cells: Sequence[CalibratedCell], width: int) -> str:
    titles = ["cell", "base", "scatter", "min effect", "caught", "catches", "holds", "proposed", ""]
    return text_table(titles, [_row(cell) for cell in cells], width=width)


def _row(cell: CalibratedCell) -> list[str]:
    known = cell.problem is None
    return [
        plain(cell.key),
        quantity(cell.base_s, cell.unit),
        percentage(cell.spread),
        percentage(cell.min_effect),
        percentage(cell.caught),
        _size(cell.catches) if known else ABSENT,
        _size(cell.holds) if known else ABSENT,
        percentage(cell.proposed) if cell.changes else ("as it is" if cell.proposed is not None else ABSENT),
        "two modes" if cell.two_modes else "",
    ]


def _size(fraction: float | None) -> str:
    return "> 80 %" if fraction is None else percentage(fraction)


def _settings(found: Calibration, table: str) -> str:
    header = found.header
    lines = [f"# solwatch calibrate, {header.created_at[:10]}, {model_text(header)}, {found.rounds} rounds"]
    for cell in found.cells:
        if cell.changes and cell.proposed is not None:
            lines += [table, f"match = {_toml(matching(cell.key))}", f"min_effect = {cell.proposed:g}", ""]
    return "\n".join(lines[:-1])


def _toml(text: str) -> str:
    """Return a basic string of TOML, in which whatever could not be read is escaped."""
    return "".join(f"\\U{ord(char):08x}" if hidden(char) else char for char in json.dumps(text, ensure_ascii=False))


def _advice(cells: Sequence[CalibratedCell]) -> list[str]:
    advice = []
    if any(cell.changes for cell in cells):
        advice.append("paste the lines into your settings and say in the commit why a kernel may lose so much unseen")
    if any(cell.two_modes for cell in cells):
        advice.append(
            "two modes: processes of one build run at two speeds; find the cause (clocks, placement, autotuning) "
            "before a larger min effect hides it"
        )
    if any(cell.problem is None and cell.holds is None for cell in cells):
        advice.append("a cell that holds nothing needs a quieter machine, or gated = false")
    advice += [f"{plain(cell.key)}: {plain(cell.problem)}" for cell in cells if cell.problem is not None]
    return advice
