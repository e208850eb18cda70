"""Verdicts on cells and on a commit, with reason codes, evidence and the exit code that follows."""

from collections.abc import Iterable

import msgspec

from solwatch.model.errors import ExitCode
from solwatch.model.estimate import Estimate
from solwatch.model.strings import StrEnum


class Verdict(StrEnum):
    """What the gate says of one cell.

    ``SLOWER``: head is slower than the margin allows, beyond what noise explains
    ``FASTER``: the mirror image
    ``UNCHANGED``: a slowdown of the min effect is ruled out, or nothing that the cell runs has changed
    ``ACCEPTED``: slower perhaps, but a slowdown larger than accepted by the min effect is ruled out
    ``UNDECIDED``: neither could be shown, or a SOL floor not be checked; the MDE says what such a run does show
    ``BELOW_FLOOR``: the SOL score is under the floor set for the cell
    ``BROKEN``: head raises, hangs, gives a wrong result, or no longer has the cell
    ``NEW``: base can't run it: measured, floors apply, never slower
    ``VOID``: the measurement can't be trusted
    """

    SLOWER = "slower"
    FASTER = "faster"
    UNCHANGED = "unchanged"
    ACCEPTED = "accepted"
    UNDECIDED = "undecided"
    BELOW_FLOOR = "below_floor"
    BROKEN = "broken"
    NEW = "new"
    VOID = "void"


class Reason(StrEnum):
    """Why a verdict is what it is."""

    ABOVE_MARGIN = "above_margin"
    BELOW_MARGIN = "below_margin"
    WITHIN_MIN_EFFECT = "within_min_effect"
    IDENTICAL = "identical"
    WITHIN_ACCEPTED = "within_accepted"
    NOISE = "noise"
    TWO_MODES = "two_modes"
    UNCONFIRMED = "unconfirmed"
    BUDGET = "budget"
    ROUNDS = "rounds"
    INTERRUPTED = "interrupted"
    UNDER_SOL_FLOOR = "under_sol_floor"
    FLOOR_UNCHECKED = "floor_unchecked"
    WRONG_RESULT = "wrong_result"
    RAISED = "raised"
    OUT_OF_MEMORY = "out_of_memory"
    HUNG = "hung"
    DIED = "died"
    VANISHED = "vanished"
    NOT_IN_BASE = "not_in_base"
    UNTRUSTED = "untrusted"
    CEILING_EXCEEDED = "ceiling_exceeded"
    MEASURED_ALONE = "measured_alone"
    SKIPPED = "skipped"


class Label(StrEnum):
    """What else differs between the sides of a cell; it never changes a verdict.

    ``CLOCK``: slower or faster by the clock alone: in SM cycles no such change beyond the margin is left
    ``LAUNCHES_CHANGED``: one call launches another number of kernels in head than in base
    ``CONFIG_CHANGED``: JIT and autotune caches differ: no state of theirs after warm-up was seen on both sides
    """

    CLOCK = "clock"
    LAUNCHES_CHANGED = "launches_changed"
    CONFIG_CHANGED = "config_changed"


class CellVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement of one cell.

    ``labels``: what else differs between the sides; they decide nothing. ``slowdown_ratio``: head / base over rounds.
    ``cycles_ratio``: the same in SM cycles, where the clock is known; it decides nothing. ``mde``: the slowdown (a
    fraction) that a run of as many rounds with this noise calls with probability 1 - ``miss_rate``, ``None`` when
    nothing could be computed. ``power``: the probability with which such a run calls a slowdown of the min effect, on
    top of what was accepted. ``p_value``: of θ ≤ δ0, already adjusted for cells and looks. ``min_effect`` and
    ``margin`` are the thresholds used.
    ``evidence``: short sentences.
    """

    key: str
    verdict: Verdict
    reason: Reason
    gated: bool
    labels: list[Label] = msgspec.field(default_factory=list)
    evidence: list[str] = msgspec.field(default_factory=list)
    slowdown_ratio: Estimate | None = None
    null_ratio: Estimate | None = None
    cycles_ratio: Estimate | None = None
    mde: float | None = None
    power: float | None = None
    p_value: float | None = None
    min_effect: float | None = None
    margin: float | None = None
    rounds: int = 0


FAILING = frozenset({Verdict.SLOWER, Verdict.BELOW_FLOOR, Verdict.BROKEN})
DECIDED = FAILING | {Verdict.FASTER, Verdict.UNCHANGED, Verdict.ACCEPTED}


def exit_code(verdicts: Iterable[CellVerdict], *, undecided: str = "pass") -> ExitCode:
    """Return the exit code of a gate that reached ``verdicts``; peers (not gated) don't count.

    When several hold, 1 comes before 3, before 4, before 0. ``new`` cells are measured but decide nothing. Cells that
    are unchanged without having been measured don't make a gate pass by themselves.
    """
    gated = [cell for cell in verdicts if cell.gated]
    kinds = {cell.verdict for cell in gated}
    if kinds & FAILING:
        return ExitCode.SLOWER
    if Verdict.VOID in kinds:
        return ExitCode.UNTRUSTED
    measured = {cell.verdict for cell in gated if cell.reason is not Reason.IDENTICAL}
    if not measured or kinds == {Verdict.UNDECIDED}:
        return ExitCode.UNDECIDED
    if undecided == "fail" and Verdict.UNDECIDED in kinds:
        return ExitCode.UNDECIDED
    return ExitCode.OK
