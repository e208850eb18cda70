"""The thresholds a run is judged by: those of the whole commit, and those of each cell."""

from fnmatch import fnmatchcase

import msgspec

from solwatch.model.cell import CellInfo
from solwatch.model.config import Config
from solwatch.model.errors import RequestError

INTERVAL_LEVEL = 0.95
"""Level of the intervals shown. Decisions are taken at the adjusted rates, never by looking at these."""

MIN_ROUNDS = 3
"""Usable rounds below which nothing is decided about a cell, and enough for a cell that is not compared."""

VOID_SHARE = 0.5
"""A cell is void when more than this share of its rounds can't be trusted."""


NULL_MIN_EFFECT = 0.05
"""Of the null kernel's own 3.4 µs: 0.17 µs a launch, what its scatter between processes lets a gate see."""


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for the whole commit; written into every judgement.

    ``family``: gated cells, over which ``false_alarm_rate`` holds together. ``looks``: completed rounds at which
    a verdict may fall; the rates are shared out over them. ``most_rounds``: when the last cell is through.
    """

    rule: str
    rule_text: str
    false_alarm_rate: float
    miss_rate: float
    looks: list[int]
    most_rounds: int
    family: int
    trim_fraction: float
    interval_level: float = INTERVAL_LEVEL
    min_rounds: int = MIN_ROUNDS
    void_share: float = VOID_SHARE


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule decides one cell by: δ1 and δ0 as fractions, and how long it may go on.

    ``most_rounds``: completed rounds after which it is measured no more, ``None`` where only the commit's own limits
    hold. ``accepted``: the slowdown, a fraction, that was accepted and that both thresholds of `slower` lie on top
    of; 0 where none was.
    """

    min_effect: float
    margin: float
    most_rounds: int | None = None
    accepted: float = 0.0

    @property
    def slower_above(self) -> float:
        """δ0 on top of what was accepted: a slowdown up to here is never reported."""
        return self.margin + self.accepted + self.margin * self.accepted

    @property
    def slower_from(self) -> float:
        """δ1 on top of what was accepted: a slowdown from here on must be caught."""
        return self.min_effect + self.accepted + self.min_effect * self.accepted


class CellThresholds(Limits, frozen=True, kw_only=True):
    """What holds for one cell: its limits and its floor, a fraction; whether it counts for the exit code."""

    sol_floor: float | None
    gated: bool


def cell_thresholds(
    config: Config, cell: CellInfo, *, device: str, base_s: float | None, accepted: float = 0.0
) -> CellThresholds:
    """Return the thresholds of ``cell`` on ``device`` (``cuda``, ``cpu``), whose base takes ``base_s`` seconds.

    A cell's own override comes first, then the configuration's ``min_effect``, then the device's default: on a
    GPU the larger of ``min_effect_cuda`` and ``min_effect_floor_s`` / base time. Of several overrides the last
    match wins, setting by setting. Raises ``RequestError`` when the margin is not below the min effect.
    """
    min_effect, margin, sol_floor, gated = config.min_effect, config.margin, None, cell.gated
    most_rounds = None
    for override in config.cells:
        if not fnmatchcase(cell.key, override.match):
            continue
        min_effect = override.min_effect if override.min_effect is not None else min_effect
        margin = override.margin if override.margin is not None else margin
        sol_floor = override.sol_floor if override.sol_floor is not None else sol_floor
        gated = override.gated if override.gated is not None else gated
        most_rounds = override.most_rounds if override.most_rounds is not None else most_rounds
    if min_effect is None:
        min_effect = _default_min_effect(config, cell, device, base_s)
    if margin is None:
        margin = config.margin_fraction * min_effect
    if margin >= min_effect:
        raise RequestError(
            f"{cell.key}: margin is {margin:g} and min_effect {min_effect:g}; the margin must be the smaller: "
            "change margin or min_effect in [tool.solwatch]"
        )
    return CellThresholds(
        min_effect=min_effect,
        margin=margin,
        sol_floor=sol_floor,
        gated=gated,
        most_rounds=most_rounds,
        accepted=accepted,
    )


def _default_min_effect(config: Config, cell: CellInfo, device: str, base_s: float | None) -> float:
    if cell.kind == "null":
        return NULL_MIN_EFFECT
    if not (cell.device or device).startswith("cuda"):
        return config.min_effect_cpu
    if base_s is None or base_s <= 0 or cell.unit != "seconds":
        return config.min_effect_cuda
    return max(config.min_effect_cuda, config.min_effect_floor_s / base_s)
