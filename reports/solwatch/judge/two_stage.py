"""The rule: a screen that finds suspects fast, and a confirmation on fresh rounds that no model can spoil."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from solwatch.judge.rule import ComparedCell, Decision
from solwatch.judge.screen import Screened, screened
from solwatch.judge.thresholds import MIN_ROUNDS
from solwatch.model.config import Config
from solwatch.model.errors import RequestError
from solwatch.model.verdict import Reason, Verdict
from solwatch.stats.detectable import detectable_slowdown, detection_power
from solwatch.stats.modes import two_modes
from solwatch.stats.sign_bets import MOST, Bet, fewest_values, wealth

SCREEN_RATE = 0.02
"""Chance that a commit that changed nothing has a suspect, if the screen's model holds."""

MOST_SUSPECTS = 0.1
"""Suspects that a commit that changed nothing has on average, at most: five times what the screen's model promises.

A suspect may be confirmed by chance as often as the commit's false-alarm rate allows then."""

CONFIRM_ROUNDS = 20
SHIFT_SHARE = 0.75
"""Of the shift that the screen saw: what made a cell a suspect is more than the truth, as a rule."""


@dataclass(frozen=True)
class _State:
    """A cell on its way. ``suspected_at``: the look that sent it to the second stage; ``seen``: what it saw."""

    verdict: Verdict = Verdict.UNDECIDED
    reason: Reason = Reason.NOISE
    final: bool = False
    decided_at: int | None = None
    suspected_at: int | None = None
    seen: Screened | None = None
    p_value: float | None = None


@dataclass(frozen=True)
class TwoStage:
    """Screen over the family at fixed looks; then sign bets on fresh rounds for each suspect.

    *slower*: θ <= δ0 is rejected by the screen (``SCREEN_RATE`` over cells and looks, Student t on winsorised log
    ratios), and then on rounds that follow, whose coins were not drawn yet, by a bet whose wealth reaches
    1 / ``confirm_rate`` within ``CONFIRM_ROUNDS``. Given which processes were paired, the coin alone decides the sign
    of a round's log ratio around θ: the second stage needs no model, so that false alarms are at most the number of
    suspects × ``confirm_rate``. *faster*: the mirror image of the screen. *unchanged*: θ >= δ1 is rejected at
    ``miss_rate`` over the looks, and before the last one a speed-up of δ1 too, so that a faster kernel is not called
    unchanged for want of rounds. A verdict once final stands.

    A cell with an accepted slowdown a is *slower* when θ <= (1 + a)(1 + δ0) - 1 is rejected in the same way: the log
    ratios are shifted by a constant that was fixed before the first round, and nothing else of the guarantee moves.
    *accepted*: θ >= (1 + a)(1 + δ1) - 1 is rejected at ``miss_rate``, and θ >= δ1 is not. For *faster* and *unchanged*
    a is nothing.
    """

    confirm_rate: float
    miss_rate: float
    looks: list[int]

    @classmethod
    def from_config(cls, config: Config) -> "TwoStage":
        """Return the rule with the rates and looks of ``config``.

        Raises ``RequestError`` for a false-alarm rate that all fresh rounds together could not confirm at.
        """
        confirm_rate = min(0.5, config.false_alarm_rate / MOST_SUSPECTS)
        if fewest_values(confirm_rate) > CONFIRM_ROUNDS:
            least = MOST_SUSPECTS * (1 + MOST) ** -CONFIRM_ROUNDS
            raise RequestError(
                f"false_alarm_rate is {config.false_alarm_rate:g}: {CONFIRM_ROUNDS} fresh rounds can't confirm a "
                f"slowdown so surely; choose {least:.2g} or more in [tool.solwatch]"
            )
        return cls(confirm_rate, config.miss_rate, sorted(set(config.rounds)))

    @property
    def name(self) -> str:
        """``two_stage``."""
        return "two_stage"

    @property
    def text(self) -> str:
        """The rule in one sentence."""
        looks = ", ".join(str(look) for look in self.looks)
        return (
            f"suspects by Student t over rounds, looked at after {looks} rounds, {100 * SCREEN_RATE:g} % per commit; "
            f"each confirmed on at most {CONFIRM_ROUNDS} fresh rounds by betting on the coin's signs, "
            f"{100 * self.confirm_rate:g} %"
        )

    @property
    def most_rounds(self) -> int:
        """No cell needs more rounds than this."""
        return self.looks[-1] + CONFIRM_ROUNDS

    @property
    def least_rounds(self) -> int:
        """A run of fewer rounds can't call any cell slower."""
        return max(self.looks[0], MIN_ROUNDS) + fewest_values(self.confirm_rate)

    @property
    def _unchanged_from(self) -> int:
        # By the coin alone n rounds all lie on one side of θ, as in one of two modes, with probability 2^-n: while
        # that is above the miss rate no cell is called unchanged, unless no round will follow.
        return math.ceil(math.log2(1 / self.miss_rate))

    def decide(self, cells: Sequence[ComparedCell], *, family: int, completed: int, ended: bool) -> dict[str, Decision]:
        """Return the decision on each cell; see ``Rule.decide``."""
        shares = len(self.looks)
        rate = SCREEN_RATE / (shares * max(family, len(cells), 1))
        states = {cell.key: _State() for cell in cells}
        looks = {cell.key: self._looks_taken(cell, completed, ended) for cell in cells}
        for look in sorted({look for taken in looks.values() for look in taken}):
            # Beside a cell at its own last look the others are screened too: what is common to them needs them.
            seen = screened([cell for cell in cells if not _is_through(states[cell.key])], look, MIN_ROUNDS)
            for cell in cells:
                if look not in looks[cell.key]:
                    continue
                last = looks[cell.key][look]
                if cell.key in seen:
                    states[cell.key] = self._looked_at(cell, seen[cell.key], look, last, rate)
                elif last and not _is_through(states[cell.key]):
                    states[cell.key] = replace(states[cell.key], final=True)
        return {cell.key: self._decision(cell, states[cell.key], rate, completed) for cell in cells}

    def _looks_taken(self, cell: ComparedCell, completed: int, ended: bool) -> dict[int, bool]:
        """Return the looks at ``cell``, each with whether no other follows it."""
        if cell.most_rounds is not None and cell.most_rounds <= completed:
            completed, ended = cell.most_rounds, True
        taken = [look for look in self.looks if look <= completed]
        if ended and completed < self.looks[-1] and completed not in taken:
            taken.append(completed)
        return {look: look == self.looks[-1] or (ended and look == completed) for look in taken}

    def _looked_at(self, cell: ComparedCell, seen: Screened, look: int, last: bool, rate: float) -> _State:
        margin, target = math.log1p(cell.margin), math.log1p(cell.min_effect)
        each = self.miss_rate / max(1, sum(each >= self._unchanged_from for each in self.looks))
        p_slower = seen.p_above(math.log1p(cell.slower_above))
        here = _State(seen=seen, p_value=min(1.0, p_slower * SCREEN_RATE / rate))
        if p_slower <= rate:
            return replace(here, suspected_at=look)
        if seen.p_below(-margin) <= rate:
            return replace(here, verdict=Verdict.FASTER, reason=Reason.BELOW_MARGIN, final=True, decided_at=look)
        if not (last or look >= self._unchanged_from):
            return here
        if seen.p_below(target) <= each:
            final = last or seen.p_above(-target) <= each
            return replace(
                here, verdict=Verdict.UNCHANGED, reason=Reason.WITHIN_MIN_EFFECT, final=final, decided_at=look
            )
        if cell.accepted and seen.p_below(math.log1p(cell.slower_from)) <= each:
            # Final before the last look only where it is slower indeed: it may still turn out to be unchanged.
            final = last or seen.p_above(margin) <= rate
            return replace(here, verdict=Verdict.ACCEPTED, reason=Reason.WITHIN_ACCEPTED, final=final, decided_at=look)
        return replace(here, final=last)

    def _decision(self, cell: ComparedCell, state: _State, rate: float, completed: int) -> Decision:
        if state.suspected_at is not None and state.seen is not None:
            state = self._confirmed(cell, state, state.seen, state.suspected_at, completed)
        elif state.verdict is Verdict.UNDECIDED and (cell.most_rounds or math.inf) <= min(
            completed, self.looks[-1] - 1
        ):
            state = replace(state, reason=Reason.BUDGET)
        elif state.verdict is Verdict.UNDECIDED and two_modes([each.log_ratio for each in cell.replicates]):
            state = replace(state, reason=Reason.TWO_MODES)
        seen = state.seen
        mde = power = None
        if seen is not None:
            mde = detectable_slowdown(
                seen.spread, seen.count, margin=cell.slower_above, alarm_rate=rate, miss_rate=self.miss_rate
            )
            power = detection_power(
                seen.spread, seen.count, effect=cell.slower_from, margin=cell.slower_above, alarm_rate=rate
            )
        return Decision(
            verdict=state.verdict,
            reason=state.reason,
            final=state.final,
            decided_at=state.decided_at,
            p_value=state.p_value,
            mde=mde,
            power=power,
            suspected_at=state.suspected_at,
        )

    def _confirmed(
        self, cell: ComparedCell, state: _State, seen: Screened, suspected_at: int, completed: int
    ) -> _State:
        """Return the state after the fresh rounds: slower, not confirmed, or still a suspect."""
        margin = math.log1p(cell.slower_above)
        fresh = [each for each in cell.replicates if each.ordinal > suspected_at][:CONFIRM_ROUNDS]
        bet = Bet(SHIFT_SHARE * (seen.mean - margin), max(seen.spread, 1e-9))
        path = wealth([each.log_ratio - margin for each in fresh], bet)
        for each, held in zip(fresh, path, strict=True):
            if held >= 1 / self.confirm_rate:
                return replace(
                    state,
                    verdict=Verdict.SLOWER,
                    reason=Reason.ABOVE_MARGIN,
                    final=True,
                    decided_at=each.ordinal,
                    p_value=1 / held,
                )
        held = path[-1] if path else 1.0
        left = min(CONFIRM_ROUNDS - len(fresh), suspected_at + 2 * CONFIRM_ROUNDS - completed)
        hopeless = self._hopeless(held, left)
        over = not hopeless and self._hopeless(held, min(left, _left(cell, completed)))
        reason = Reason.BUDGET if over else Reason.UNCONFIRMED
        return replace(state, reason=reason, final=hopeless or over, p_value=1 / max([1.0, *path]))

    def _hopeless(self, held: float, left: float) -> bool:
        return held * math.pow(1 + MOST, max(left, 0)) < 1 / self.confirm_rate


def _left(cell: ComparedCell, completed: int) -> float:
    """Return how many rounds the cell's own limit leaves after ``completed``."""
    return math.inf if cell.most_rounds is None else cell.most_rounds - completed


def _is_through(state: _State) -> bool:
    return state.final or state.suspected_at is not None
