"""The first rule: Student t over rounds, Holm over cells, Bonferroni over looks."""

from collections.abc import Sequence
from dataclasses import dataclass

from solwatch.judge.rule import ComparedCell, Decision
from solwatch.judge.thresholds import MIN_ROUNDS
from solwatch.model.config import Config
from solwatch.model.verdict import Reason, Verdict
from solwatch.stats.detectable import detectable_slowdown
from solwatch.stats.holm import holm
from solwatch.stats.margin import p_above, p_below
from solwatch.stats.moments import moments

_REASONS = {
    Verdict.SLOWER: Reason.ABOVE_MARGIN,
    Verdict.FASTER: Reason.BELOW_MARGIN,
    Verdict.UNCHANGED: Reason.WITHIN_MIN_EFFECT,
    Verdict.UNDECIDED: Reason.NOISE,
}


@dataclass
class _State:
    """A cell on its way through the looks: its smallest p-values so far, and the decision once it has fallen."""

    p_slower: float = 1.0
    p_faster: float = 1.0
    verdict: Verdict = Verdict.UNDECIDED
    final: bool = False
    decided_at: int | None = None


@dataclass(frozen=True)
class HolmT:
    """Student t over rounds against a margin, at a few looks fixed in advance.

    *slower*: "θ <= δ0" is rejected at ``false_alarm_rate``. A cell's p-value is the smallest over the looks so
    far, times the number of looks (Bonferroni), then Holm's adjustment over the family; both hold under any
    dependence, so the rate holds for the commit, over all its cells and looks together. *faster*: its mirror
    image. *unchanged*: "θ >= δ1" is rejected at ``miss_rate`` for this cell, over its looks. Before the last look
    that ends a cell only when a speed-up of δ1 is ruled out as well, so that a faster kernel is not called
    unchanged for want of rounds. A verdict once final stands. A run that ends between two looks takes one in
    place of the looks it did not reach: whether it ends there must not depend on the times (a budget does not).
    """

    false_alarm_rate: float
    miss_rate: float
    looks: list[int]

    @classmethod
    def from_config(cls, config: Config) -> "HolmT":
        """Return the rule with the rates and looks of ``config``."""
        return cls(config.false_alarm_rate, config.miss_rate, sorted(set(config.rounds)))

    @property
    def name(self) -> str:
        """``holm_t``."""
        return "holm_t"

    @property
    def text(self) -> str:
        """The rule in one sentence."""
        looks = ", ".join(str(look) for look in self.looks)
        return (
            f"Student t over rounds, looked at after {looks} rounds; false alarms are held to "
            f"{100 * self.false_alarm_rate:g} % per commit by Holm over cells and Bonferroni over looks"
        )

    def decide(self, cells: Sequence[ComparedCell], *, family: int, completed: int, ended: bool) -> dict[str, Decision]:
        """Return the decision on each cell; see ``Rule.decide``."""
        states = {cell.key: _State() for cell in cells}
        for look, last in self._looks_taken(completed, ended):
            self._look(cells, states, family, look, last)
        p_slower = holm({key: state.p_slower for key, state in states.items()}, family)
        alarm_rate = self.false_alarm_rate / (len(self.looks) * max(family, len(cells), 1))
        return {
            cell.key: Decision(
                verdict=states[cell.key].verdict,
                reason=_REASONS[states[cell.key].verdict],
                final=states[cell.key].final,
                decided_at=states[cell.key].decided_at,
                p_value=p_slower[cell.key],
                mde=_mde(cell, alarm_rate, self.miss_rate),
            )
            for cell in cells
        }

    def _looks_taken(self, completed: int, ended: bool) -> list[tuple[int, bool]]:
        taken = [look for look in self.looks if look <= completed]
        if ended and len(taken) < len(self.looks) and completed not in taken:
            taken.append(completed)
        return [(look, look == self.looks[-1] or (ended and look == completed)) for look in taken]

    def _look(
        self, cells: Sequence[ComparedCell], states: dict[str, _State], family: int, look: int, last: bool
    ) -> None:
        shares = len(self.looks)
        seen: dict[str, list[float]] = {}
        for cell in cells:
            log_ratios = [each.log_ratio for each in cell.replicates if each.ordinal <= look]
            state = states[cell.key]
            if state.final or len(log_ratios) < MIN_ROUNDS:
                continue
            seen[cell.key] = log_ratios
            state.p_slower = min(state.p_slower, shares * p_above(log_ratios, 1 + cell.margin))
            state.p_faster = min(state.p_faster, shares * p_below(log_ratios, 1 / (1 + cell.margin)))
        # A cell whose verdict has fallen keeps its p-value in the family: the set of rejections only grows.
        slower = holm({key: state.p_slower for key, state in states.items()}, family)
        faster = holm({key: state.p_faster for key, state in states.items()}, family)
        for cell in cells:
            if cell.key not in seen:
                continue
            state, log_ratios = states[cell.key], seen[cell.key]
            if slower[cell.key] <= self.false_alarm_rate:
                _settle(state, Verdict.SLOWER, look, final=True)
            elif faster[cell.key] <= self.false_alarm_rate:
                _settle(state, Verdict.FASTER, look, final=True)
            elif shares * p_below(log_ratios, 1 + cell.min_effect) <= self.miss_rate:
                no_speedup = shares * p_above(log_ratios, 1 / (1 + cell.min_effect)) <= self.miss_rate
                _settle(state, Verdict.UNCHANGED, look, final=last or no_speedup)
            else:
                _settle(state, Verdict.UNDECIDED, None, final=last)


def _settle(state: _State, verdict: Verdict, look: int | None, *, final: bool) -> None:
    state.verdict, state.decided_at, state.final = verdict, look, final


def _mde(cell: ComparedCell, alarm_rate: float, miss_rate: float) -> float | None:
    found = moments([each.log_ratio for each in cell.replicates])
    if found is None:
        return None
    return detectable_slowdown(
        found.spread, found.count, margin=cell.margin, alarm_rate=alarm_rate, miss_rate=miss_rate
    )
