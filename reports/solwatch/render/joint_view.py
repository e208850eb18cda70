"""The view model of a joint verdict: what all entries of the fleet say, ready to be shown anywhere."""

from dataclasses import dataclass

from solwatch.model.entry_verdict import MOST_CELLS
from solwatch.model.joint_verdict import EntryResult, JointVerdict
from solwatch.model.plain import plain
from solwatch.render.units import ABSENT
from solwatch.render.verdict_view import VerdictView, verdict_view

_INFRASTRUCTURE = "INFRASTRUCTURE: no verdict on this change"
_TITLES = {0: "PASS", 1: "FAIL", 2: "REFUSED: the request is wrong", 4: "NOTHING DECIDED"}
_WORDS = {0: "pass", 1: "fail", 2: "refused", 4: "undecided"}


@dataclass(frozen=True)
class EntryView:
    """One entry. ``trials``: what is said of retries and reuse, starts with ``;``. ``cells``: its worst."""

    entry: str
    card: str
    word: str
    coverage: str
    text: str
    trials: str
    cells: list[VerdictView]


@dataclass(frozen=True)
class JointView:
    """``base``, ``head``: the start of both commits, empty where they aren't known. ``failed``: a cell fails."""

    title: str
    text: str
    failed: bool
    base: str
    head: str
    entries: list[EntryView]
    problems: list[str]


def joint_view(joint: JointVerdict) -> JointView:
    """Return the view. Words come from the codes: those in the files are not believed."""
    plan = joint.plan
    known = plan is not None and plan.base and plan.head
    return JointView(
        title=_TITLES.get(joint.code, _INFRASTRUCTURE),
        text=plain(joint.text),
        failed=joint.code == 1,
        base=plan.base[:10] if known and plan and plan.base else "",
        head=plan.head[:10] if known and plan and plan.head else "",
        entries=[_entry(one) for one in joint.entries],
        problems=[plain(problem) for problem in joint.problems],
    )


def _entry(result: EntryResult) -> EntryView:
    verdict = result.verdict
    return EntryView(
        entry=result.entry,
        card=plain(verdict.fingerprint.model) if verdict and verdict.fingerprint else ABSENT,
        word=_WORDS.get(result.code, "infrastructure"),
        coverage=plain(verdict.coverage) if verdict else ABSENT,
        text=plain(verdict.text if verdict else result.problem),
        trials=_trials(result),
        cells=[verdict_view(cell) for cell in verdict.cells[:MOST_CELLS]] if verdict else [],
    )


def _trials(result: EntryResult) -> str:
    said = ""
    if result.retried:
        where = {True: "on the same machine", False: "on another machine", None: "on a machine that is not known"}
        said += f"; measured again {where[result.same_machine]}"
    if result.verdict and result.verdict.reused:
        said += f"; reused from run {result.verdict.reused.run or ABSENT}"
    return said
