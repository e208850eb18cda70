"""The port behind which a rule of decision stands, so that one rule can take another's place."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from solwatch.judge.thresholds import Limits
from solwatch.model.verdict import Reason, Verdict


class Replicate(NamedTuple):
    """One usable round of a cell: its ordinal among completed rounds, head's slot by the coin, log(head / base)."""

    ordinal: int
    head_slot: int
    log_ratio: float


class ComparedCell(Limits, frozen=True, kw_only=True):
    """One cell that both sides can run, with its limits."""

    key: str
    replicates: list[Replicate]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule says of one cell.

    ``verdict``: slower, faster, unchanged, accepted or undecided. ``reason``: of the times, or ``budget`` where the
    cell's own limit of rounds kept it open; what ended a run before its last look is not the rule's to say. ``final``:
    no more rounds are needed. ``decided_at``: the number of completed rounds at which it fell. ``p_value``: of
    θ <= δ0 (on top of what was accepted), adjusted for cells and looks; where fresh rounds confirmed or should have, of
    those alone. ``suspected_at``: the round after which they began. ``mde``: the slowdown, a fraction, that so many
    rounds with this noise call with probability 1 - ``miss_rate``. ``power``: the probability with which they call the
    slowdown that must be caught.
    """

    verdict: Verdict
    reason: Reason
    final: bool
    decided_at: int | None
    p_value: float | None
    mde: float | None
    power: float | None = None
    suspected_at: int | None = None


class Rule(Protocol):
    """Decides over a family of cells together."""

    @property
    def name(self) -> str:
        """Short name, written into every judgement."""

    @property
    def text(self) -> str:
        """The rule in one sentence, for reports."""

    @property
    def looks(self) -> list[int]:
        """Numbers of completed rounds at which a verdict may fall, ascending."""

    @property
    def most_rounds(self) -> int:
        """Rounds after which every cell is through."""

    def decide(self, cells: Sequence[ComparedCell], *, family: int, completed: int, ended: bool) -> dict[str, Decision]:
        """Return the decision on each cell after ``completed`` rounds.

        ``family``: the number of cells that the error rate is shared over, at least ``len(cells)``. ``ended``: no
        round will follow. Must be a function of its arguments only, so that a record can be judged again.
        """
