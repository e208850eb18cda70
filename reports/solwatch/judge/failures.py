"""What follows when a side has no times: broken, new, or nothing to compare."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from solwatch.model.record import CellRound, Failure
from solwatch.model.verdict import Reason, Verdict

ABSENT = frozenset({"missing", "skipped"})
"""Failure kinds that say that a side does not have the cell, not that it does it badly."""

_REASONS = {
    "wrong": Reason.WRONG_RESULT,
    "raised": Reason.RAISED,
    "out_of_memory": Reason.OUT_OF_MEMORY,
    "hung": Reason.HUNG,
    "died": Reason.DIED,
    "missing": Reason.VANISHED,
    "skipped": Reason.VANISHED,
}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict that needs no statistics. ``counts``: false when the cell must not count for the exit code."""

    verdict: Verdict
    reason: Reason
    evidence: list[str]
    counts: bool = True


def failure_finding(rounds: Sequence[CellRound]) -> Finding | None:
    """Return what the failures in a cell's rounds say, ``None`` when the times must be judged.

    | head | base | verdict |
    | --- | --- | --- |
    | fails in any round | measured, or absent, or fails in another way | ``broken``: head's own fault |
    | fails | fails in the same way | ``void``: head did not break it, and nothing could be compared |
    | absent | measured | ``broken`` (vanished): a benchmark that is gone can't get slower unseen |
    | absent | absent, or fails | ``undecided`` (skipped), not counted: head has nothing to measure |
    | measured | fails or absent in every round | ``new``: never slower, floors apply |
    | measured | fails in some rounds | ``None``: those rounds are dropped |

    ``absent``: missing from the suite or skipped by it (``NotImplementedError``). Alone, head is judged as
    against an absent base.
    """
    heads = [cell.head.failure for cell in rounds if cell.head.failure is not None]
    compared = [cell.base for cell in rounds if cell.base is not None]
    bases = [side.failure for side in compared if side.failure is not None]
    if heads:
        return _head_failed(heads, bases, len(rounds), alone=not compared)
    if bases and len(bases) == len(compared):
        return Finding(
            verdict=Verdict.NEW,
            reason=Reason.NOT_IN_BASE,
            evidence=[f"base cannot run it: {_said(bases[0])}", "head is measured and held to its floor, not compared"],
        )
    return None


def _head_failed(heads: list[Failure], bases: list[Failure], rounds: int, *, alone: bool) -> Finding:
    head = _commonest(heads)
    evidence = [f"head: {_said(head)}" + (f" (in {len(heads)} of {rounds} rounds)" if len(heads) < rounds else "")]
    if bases:
        evidence.append(f"base: {_said(_commonest(bases))}")
    if head.kind in ABSENT:
        if alone or bases:
            evidence.append("nothing to measure in head: the cell does not count")
            return Finding(verdict=Verdict.UNDECIDED, reason=Reason.SKIPPED, evidence=evidence, counts=False)
        evidence.append("base has it: a benchmark that is gone cannot be seen getting slower")
    elif any(base.kind == head.kind for base in bases):
        evidence.append("base fails in the same way: head did not break it, and nothing was compared")
        return Finding(verdict=Verdict.VOID, reason=_reason(head), evidence=evidence)
    return Finding(verdict=Verdict.BROKEN, reason=_reason(head), evidence=evidence)


def _commonest(failures: list[Failure]) -> Failure:
    kind = Counter(failure.kind for failure in failures).most_common(1)[0][0]
    return next(failure for failure in failures if failure.kind == kind)


def _reason(failure: Failure) -> Reason:
    return _REASONS.get(failure.kind, Reason.RAISED)


def _said(failure: Failure) -> str:
    return f"{failure.kind.replace('_', ' ')}: {failure.message}" if failure.message else failure.kind.replace("_", " ")
