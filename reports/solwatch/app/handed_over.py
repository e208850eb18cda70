"""What jobs hand to each other, read where nothing of it is trusted: verdicts, plans, a joint verdict, a matrix."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from solwatch.app.entry_gate import VERDICT_FILE
from solwatch.model.bisection import Found as Bisected
from solwatch.model.ci_plan import Plan
from solwatch.model.entry_verdict import EntryName, EntryVerdict
from solwatch.model.errors import MachineError, RequestError
from solwatch.model.joint_verdict import JointVerdict
from solwatch.model.plain import plain
from solwatch.model.verdict import CellVerdict
from solwatch.render.json import BisectionDocument
from solwatch.workspace.artifacts import Found, decoded, found_in

JOINT_FILE = "joint.json"
BISECTION_FILE = "bisection.json"

MOST_RATIO = 1e9
"""A second in a nanosecond's place: no slowdown is larger, and no interval reaches beyond it."""

Job = dict[str, Any]
T = TypeVar("T", EntryVerdict, JointVerdict)


class _Named(msgspec.Struct, frozen=True):
    name: EntryName


class _Matrix(msgspec.Struct, frozen=True):
    include: list[Job]


def verdicts_in(sources: Sequence[Path]) -> list[Found[EntryVerdict]]:
    """Return all verdicts below folders or in archives, in one of them or right below it."""
    found = [one for source in sources for one in found_in(source, VERDICT_FILE, EntryVerdict)]
    return [_plausible(one, one.value.cells) if one.value else one for one in found]


def plan_from(text: str) -> Found[Plan]:
    """Return a plan from the JSON that ``ci plan`` gave out."""
    return decoded("the plan", text.encode(errors="replace"), Plan)


def jobs_of(matrix: str) -> dict[str, Job]:
    """Return entry -> job of a workflow's matrix as JSON; raises ``RequestError``."""
    try:
        jobs = msgspec.json.decode(matrix.encode(errors="replace"), type=_Matrix).include
        names = [msgspec.convert(job, _Named).name for job in jobs]
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError) as error:
        raise RequestError(
            f"--matrix is not a matrix ({error}): allowed is what 'solwatch fleet matrix' prints, "
            '{"include": [{"name": ...}]}'
        ) from error
    return dict(zip(names, jobs, strict=True))


def matrix_of(jobs: Sequence[Job]) -> str:
    """Return the value of ``strategy.matrix`` on one line."""
    return msgspec.json.encode(_Matrix(include=list(jobs))).decode()


def bisection_in(source: Path, good: str, bad: str) -> Bisected:
    """Return the one bisection in ``source``; ``good`` and ``bad``: hashes that it must be of, from a trusted source.

    Raises ``MachineError`` for anything else.
    """
    found = found_in(source, BISECTION_FILE, BisectionDocument)
    if len(found) != 1:
        raise MachineError(f"{source} holds {len(found)} files named {BISECTION_FILE}: exactly one is told")
    if found[0].value is None:
        raise MachineError(f"{found[0].where} in {source} can't be trusted: {found[0].problem}")
    bisected = found[0].value.bisection
    asked = bisected.asked
    if (asked.good, asked.bad) != (good, bad):
        raise MachineError(f"the bisection is of {asked.good} and {asked.bad}, not of {good} and {bad}: it is not told")
    return bisected


def joint_in(source: Path, head: str | None) -> JointVerdict:
    """Return the one joint verdict in ``source``.

    ``head``: the commit that it must be of, from a trusted source. Raises ``MachineError`` for anything else.
    """
    found = found_in(source, JOINT_FILE, JointVerdict)
    if len(found) != 1:
        raise MachineError(f"{source} holds {len(found)} files named {JOINT_FILE}: exactly one is commented on")
    one = found[0]
    if one.value is not None:
        named = [entry.verdict for entry in one.value.entries if entry.verdict is not None]
        one = _plausible(one, [cell for verdict in named for cell in verdict.cells])
    joint = one.value
    if joint is None:
        raise MachineError(f"{one.where} in {source} can't be trusted: {one.problem}")
    of = joint.plan.head if joint.plan else None
    if head is not None and of != head:
        raise MachineError(f"the verdict is of {of or 'no commit'}, not of {head}: it is not commented on")
    return joint


def _plausible(found: Found[T], cells: Iterable[CellVerdict]) -> Found[T]:
    """Return ``found``, or the problem with the first figure of its ``cells`` that nothing can have measured."""
    for cell in cells:
        for name, value, least, most in _figures(cell):
            if not least <= value <= most:
                said = f"{plain(cell.key, 80)} has {name} = {value:g}, allowed is {least:g} to {most:g}"
                return Found(where=found.where, problem=said)
    return found


def _figures(cell: CellVerdict) -> Iterable[tuple[str, float, float, float]]:
    """Yield the figures of a cell that are shown: name, value, least and most."""
    ratio = cell.slowdown_ratio
    if ratio is not None:
        yield "slowdown_ratio", ratio.point, 0.0, MOST_RATIO
        yield from (
            ("slowdown_ratio", end, -MOST_RATIO, MOST_RATIO) for end in (ratio.low, ratio.high) if end is not None
        )
    if cell.mde is not None:
        yield "mde", cell.mde, 0.0, float("inf")
