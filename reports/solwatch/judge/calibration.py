"""What each cell can honestly hold on this machine, from rounds in which both sides were equal."""

import glob
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from solwatch.judge.case import Case, cases
from solwatch.judge.resampling import Held, Ratios, caught_shares
from solwatch.judge.series import log_ratios
from solwatch.judge.thresholds import CellThresholds, cell_thresholds
from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import CellOverride, Config
from solwatch.model.errors import RequestError
from solwatch.model.record import Record, RecordHeader
from solwatch.stats.modes import LEAST_VALUES, two_modes
from solwatch.stats.moments import moments

CAUGHT = 0.99
"""Share of gates that must catch a slowdown, for a cell to be said to hold it."""

GATES = 400
"""Gates drawn for each size: a share of 99 % is then known to 0.5 %."""

STEPS = [
    round(step * 10.0**power, 6)
    for power in (-3, -2, -1)
    for step in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
    if step * 10.0**power < 1
]
"""Sizes that are tried and proposed: 0.1 % to 80 %."""

LEAST_ROUNDS = LEAST_VALUES
"""Usable rounds below which nothing is said of a cell."""


class CalibratedCell(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of one cell; sizes are slowdowns as fractions.

    ``base_s``: time of a call, in the cell's unit. ``rounds``: usable ones. ``spread``: standard deviation of the
    rounds' log ratios, corrected as the judge does. ``two_modes``: they fall into heaps. ``min_effect``, ``margin``:
    as configured. ``caught``: share of gates that catch the min effect. ``catches``: the smallest size caught almost
    surely at this min effect and margin. ``holds``: the smallest min effect that is caught almost surely with the
    margin that it has. ``proposed``: the min effect to configure. Each is ``None`` where no size is so; all are where
    ``problem`` says why nothing can be said.
    """

    key: str
    unit: str
    base_s: float | None
    rounds: int
    spread: float | None = None
    two_modes: bool = False
    min_effect: float
    margin: float
    caught: float | None = None
    catches: float | None = None
    holds: float | None = None
    proposed: float | None = None
    problem: str | None = None

    @property
    def honest(self) -> bool:
        """Whether the configured min effect is caught almost surely."""
        return self.caught is not None and self.caught >= CAUGHT

    @property
    def changes(self) -> bool:
        """Whether another min effect is proposed than there is."""
        return self.proposed is not None and not math.isclose(self.proposed, self.min_effect)


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """A whole calibration. ``header``: of the record that it was made from; ``rounds``: how many that has."""

    schema_version: int
    header: RecordHeader
    rounds: int
    wall_s: float
    rule: str
    caught_share: float
    gates: int
    cells: list[CalibratedCell]


def calibrated_cells(record: Record, *, gates: int = GATES) -> list[CalibratedCell]:
    """Return what the gated cells of ``record`` hold, whose sides were equal; the null kernel is one of them.

    Every cell is judged beside all others, as a gate would. Raises ``RequestError`` as the rule does.
    """
    found = [case for case in cases(record) if case.facts.thresholds.gated]
    trial = _Trial(record, [case for case in found if _problem(case) is None], gates)
    caught = trial.caught(trial.configured({}))
    catches = trial.smallest(trial.configured)
    holds = trial.smallest(trial.overridden)
    return [
        trial.calibrated(case, caught[case.info.key], catches[case.info.key], holds[case.info.key])
        if case.info.key in caught
        else _facts(case, problem=_problem(case))
        for case in found
    ]


def matching(key: str) -> str:
    """Return the glob that matches this cell alone."""
    return glob.escape(key)


class _Trial:
    """Gates drawn from a record's rounds, for the cells of which something can be said."""

    def __init__(self, record: Record, able: Sequence[Case], gates: int) -> None:
        self._header = record.header
        self._able = {case.info.key: case for case in able}
        self._ratios = {key: _ratios(case, len(record.rounds)) for key, case in self._able.items()}
        self._gates = gates

    def caught(self, held: Mapping[str, Held]) -> dict[str, float]:
        """Return the share of gates that catch what is planted in each cell."""
        rule = TwoStage.from_config(self._header.config)
        return caught_shares(self._ratios, held, rule, gates=self._gates, seed=self._header.seed) if held else {}

    def configured(self, sizes: Mapping[str, float]) -> dict[str, Held]:
        """Return what each cell is held to now, its size planted; its min effect where ``sizes`` has none."""
        thresholds = {key: case.facts.thresholds for key, case in self._able.items()}
        return {
            key: Held(held.min_effect, held.margin, sizes.get(key, held.min_effect), held.most_rounds)
            for key, held in thresholds.items()
        }

    def overridden(self, sizes: Mapping[str, float]) -> dict[str, Held]:
        """Return what each cell would be held to with its size as its min effect, and that planted."""
        return {key: self._overridden(key, size) for key, size in sizes.items()}

    def smallest(self, held: Callable[[Mapping[str, float]], Mapping[str, Held]]) -> dict[str, float | None]:
        """Return for each cell the smallest of ``STEPS`` that is caught, ``None`` without one; all cells at once."""
        low, high = dict.fromkeys(self._able, 0), dict.fromkeys(self._able, len(STEPS))
        while any(low[key] < high[key] for key in self._able):
            middle = {key: min((low[key] + high[key]) // 2, len(STEPS) - 1) for key in self._able}
            shares = self.caught(held({key: STEPS[at] for key, at in middle.items()}))
            for key, at in middle.items():
                if low[key] < high[key]:
                    low[key], high[key] = (low[key], at) if shares[key] >= CAUGHT else (at + 1, high[key])
        return {key: STEPS[at] if at < len(STEPS) else None for key, at in low.items()}

    def calibrated(self, case: Case, caught: float, catches: float | None, holds: float | None) -> CalibratedCell:
        """Return the cell with what was found, and what follows."""
        return _facts(case, caught=caught, catches=catches, holds=holds, proposed=self._proposed(case, caught, holds))

    def _overridden(self, key: str, size: float) -> Held:
        override = CellOverride(match=matching(key), min_effect=size)
        config = msgspec.structs.replace(self._header.config, cells=[*self._header.config.cells, override])
        try:
            held = self._thresholds(config, self._able[key])
            return Held(size, held.margin, size, held.most_rounds)
        except RequestError:  # a margin that the settings fix is not below this size: then it can't be caught
            return Held(size, size, size)

    def _proposed(self, case: Case, caught: float, holds: float | None) -> float | None:
        """Return the min effect to configure: what the cell holds, never less than the settings have for all cells.

        A smaller one would bring the margin under what neutral rebuilds of a kernel shift.
        """
        if holds is None:
            return None
        config = self._header.config
        usual = self._thresholds(msgspec.structs.replace(config, cells=[]), case).min_effect
        wanted = next((step for step in STEPS if step >= max(holds, usual)), None)
        if wanted is None:
            return None
        now = case.facts.thresholds.min_effect
        return now if caught >= CAUGHT and now <= wanted else wanted

    def _thresholds(self, config: Config, case: Case) -> CellThresholds:
        return cell_thresholds(config, case.info, device=self._header.fingerprint.device, base_s=_base_s(case))


def _facts(case: Case, **found: Any) -> CalibratedCell:
    facts = case.facts
    ratios = log_ratios(facts.rounds)
    measured = moments(ratios)
    return CalibratedCell(
        key=case.info.key,
        unit=facts.unit,
        base_s=_base_s(case),
        rounds=len(ratios),
        spread=measured.spread if measured else None,
        # Equal sides scatter around 0: two modes of a process give heaps at -d, 0 and d, two of the distance from 0.
        two_modes=two_modes(ratios) or two_modes([abs(ratio) for ratio in ratios]),
        min_effect=facts.thresholds.min_effect,
        margin=facts.thresholds.margin,
        **found,
    )


def _problem(case: Case) -> str | None:
    if case.finding is not None:
        return f"{case.finding.verdict.value}: {'; '.join(case.finding.evidence)}"
    usable = len(log_ratios(case.facts.rounds))
    return None if usable >= LEAST_ROUNDS else f"{usable} usable rounds, {LEAST_ROUNDS} are needed"


def _ratios(case: Case, rounds: int) -> Ratios:
    by_ordinal = {fact.ordinal: fact.log_ratio for fact in case.facts.rounds}
    return [by_ordinal.get(ordinal) for ordinal in range(1, rounds + 1)]


def _base_s(case: Case) -> float | None:
    base = case.facts.base
    return base.time.point if base is not None and base.time is not None else None
