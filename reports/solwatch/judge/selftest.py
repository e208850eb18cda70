"""Whether a machine can be trusted: verdicts on cells whose slowdown is known, held against what was due."""

from collections.abc import Mapping, Sequence

import msgspec

from solwatch.judge.judgement import CellFacts, Judgement
from solwatch.judge.series import log_ratios
from solwatch.model.errors import ExitCode
from solwatch.model.estimate import Estimate
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.strings import StrEnum
from solwatch.model.verdict import CellVerdict, Reason, Verdict
from solwatch.stats.ratio import ratio_estimate

RULER_LEVEL = 0.9999
"""Level of the interval that must hold the planted size: twenty cells of a true ruler fail it in 0.2 % of selftests."""

RULER_SLACK = 0.05
"""Of the planted size: what launching costs, which no slowdown touches, is known to so much."""


class Due(StrEnum):
    """What the gate owes a cell."""

    SLOWER = "slower"
    NOT_SLOWER = "not slower"
    EITHER = "either"


class Answer(StrEnum):
    """What the gate's answer on a cell is worth.

    ``RIGHT``: as it was due
    ``OPEN``: undecided, where slower was due
    ``ALARM``: called slower, where nothing or no more than the margin was planted
    ``MISSED``: not called slower, where it was due
    ``UNTRUE``: the measured ratio is not what was planted
    ``UNMEASURED``: void, broken or without times
    """

    RIGHT = "right"
    OPEN = "open"
    ALARM = "alarm"
    MISSED = "missed"
    UNTRUE = "untrue"
    UNMEASURED = "unmeasured"


class CheckedCell(msgspec.Struct, frozen=True, kw_only=True):
    """One cell: what was planted and what the gate said.

    ``planted``: slowdown of the work, a fraction. ``expected``: of the whole call, less than ``planted`` by the share
    that launching has in it; ``None`` without times. ``ratio``: measured, head / base. ``base_s``: time of the base.
    """

    key: str
    planted: float
    expected: float | None
    due: Due
    verdict: Verdict
    reason: Reason
    answer: Answer
    ratio: Estimate | None
    mde: float | None
    min_effect: float | None
    margin: float | None
    base_s: float | None


class CheckedGate(msgspec.Struct, frozen=True, kw_only=True):
    """One gate of a selftest: its cells, how many rounds it took and how long, in seconds."""

    cells: list[CheckedCell]
    rounds: int
    wall_s: float

    def with_answer(self, *answers: Answer) -> list[CheckedCell]:
        """Return the cells whose answer is one of ``answers``."""
        return [cell for cell in self.cells if cell.answer in answers]


class Selftest(msgspec.Struct, frozen=True, kw_only=True):
    """A whole selftest. ``same``: the A/A gate, two builds of equal sources; ``planted``: the one with slowdowns.

    ``min_effect``: what the machine claims to hold, a fraction, and what the planted slowdowns are multiples of;
    ``usual_min_effect``: the default, which is all that the A/A gate knows of.
    """

    schema_version: int
    solwatch: str
    created_at: str
    machine: str
    seed: int
    fingerprint: Fingerprint
    usual_min_effect: float
    min_effect: float
    same: CheckedGate
    planted: CheckedGate

    @property
    def wrong(self) -> list[CheckedCell]:
        """What makes it fail, A/A first."""
        kinds = (Answer.ALARM, Answer.MISSED, Answer.UNTRUE, Answer.UNMEASURED)
        return [*self.same.with_answer(*kinds), *self.planted.with_answer(*kinds)]

    @property
    def exit_code(self) -> ExitCode:
        """3 when something is wrong, 4 when a size that is due was left open or no equal cell was decided, 0 else."""
        if self.wrong:
            return ExitCode.UNTRUSTED
        return ExitCode.UNDECIDED if self.says_nothing or self.planted.with_answer(Answer.OPEN) else ExitCode.OK

    @property
    def says_nothing(self) -> bool:
        """Whether no cell that is as fast as before was called so, in either gate: silence is no right answer."""
        equal = [*self.same.cells, *(cell for cell in self.planted.cells if cell.due is Due.NOT_SLOWER)]
        return all(cell.verdict is Verdict.UNDECIDED for cell in equal)


def checked_cells(judgement: Judgement, planted: Mapping[str, float]) -> list[CheckedCell]:
    """Return the judgement's cells, held against the slowdown of each that was ``planted``; 0 where none was."""
    return [_checked(cell, judgement.facts[cell.key], planted.get(cell.key, 0.0)) for cell in judgement.verdicts]


def smallest_due(cells: Sequence[CheckedCell]) -> float | None:
    """Return the smallest planted size that must be called slower, ``None`` when none must."""
    return min((cell.planted for cell in cells if cell.due is Due.SLOWER), default=None)


def _checked(cell: CellVerdict, facts: CellFacts, planted: float) -> CheckedCell:
    expected = _expected(facts, planted)
    due = _due(cell, planted if expected is None else expected)
    base = facts.base.time if facts.base is not None else None
    return CheckedCell(
        key=cell.key,
        planted=planted,
        expected=expected,
        due=due,
        verdict=cell.verdict,
        reason=cell.reason,
        answer=_answer(cell, facts, due, expected),
        ratio=cell.slowdown_ratio,
        mde=cell.mde,
        min_effect=cell.min_effect,
        margin=cell.margin,
        base_s=base.point if base is not None else None,
    )


def _expected(facts: CellFacts, planted: float) -> float | None:
    """Return the slowdown of the whole call: launching takes as long as a kernel that does nothing, on both sides."""
    if facts.base is None or facts.base.time is None:
        return None
    launching = (facts.base.null_s or 0.0) / facts.base.time.point
    return planted * (1 - min(launching, 1.0))


def _due(cell: CellVerdict, expected: float) -> Due:
    if cell.margin is None or expected <= cell.margin:
        return Due.NOT_SLOWER
    return Due.SLOWER if cell.min_effect is not None and expected >= cell.min_effect else Due.EITHER


def _answer(cell: CellVerdict, facts: CellFacts, due: Due, expected: float | None) -> Answer:
    if cell.verdict not in (Verdict.SLOWER, Verdict.FASTER, Verdict.UNCHANGED, Verdict.UNDECIDED) or expected is None:
        return Answer.UNMEASURED
    if cell.verdict is Verdict.SLOWER and due is Due.NOT_SLOWER:
        return Answer.ALARM
    if cell.verdict in (Verdict.FASTER, Verdict.UNCHANGED) and due is Due.SLOWER:
        return Answer.MISSED
    if not _is_true(facts, expected):
        return Answer.UNTRUE
    return Answer.OPEN if due is Due.SLOWER and cell.verdict is Verdict.UNDECIDED else Answer.RIGHT


def _is_true(facts: CellFacts, expected: float) -> bool:
    wide = ratio_estimate(log_ratios(facts.rounds), RULER_LEVEL)
    if wide is None or wide.low is None or wide.high is None:
        return True  # a single round contradicts nothing
    slack = 1 + RULER_SLACK * expected
    return wide.low / slack <= 1 + expected <= wide.high * slack
