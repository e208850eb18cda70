"""The verdict on the whole commit in one line, and what to do about it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from solwatch.judge.judgement import Judgement
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.model.errors import ExitCode
from solwatch.model.plain import plain
from solwatch.model.record import Record
from solwatch.model.verdict import FAILING, CellVerdict, Reason, Verdict
from solwatch.render.units import change_with_error

SEVERITY = (
    Verdict.SLOWER,
    Verdict.BROKEN,
    Verdict.BELOW_FLOOR,
    Verdict.VOID,
    Verdict.UNDECIDED,
    Verdict.ACCEPTED,
    Verdict.NEW,
    Verdict.FASTER,
    Verdict.UNCHANGED,
)
"""Verdicts, worst first: the order in which cells are shown."""

TITLES = {
    "fail": "FAIL",
    "pass": "PASS",
    "untrusted": "NOT TRUSTED",
    "undecided": "NOTHING DECIDED",
    "measured": "MEASURED",
}

_NEEDED = {
    Reason.NOISE: "more rounds (rounds in [tool.solwatch]) or a quieter machine",
    Reason.TWO_MODES: "the cause of their two modes, or a larger min_effect",
    Reason.UNCONFIRMED: "another run, or a quieter machine",
    Reason.BUDGET: "a larger budget_s (--budget) or most_rounds",
    Reason.ROUNDS: "more rounds (a larger --rounds, or none)",
    Reason.FLOOR_UNCHECKED: "a SOL score where sol_floor is set",
    Reason.INTERRUPTED: "a run that is not interrupted",
}


@dataclass(frozen=True)
class Headline:
    """``state``: ``fail``, ``pass``, ``untrusted``, ``undecided`` or ``measured``; ``text``: the verdict line.

    ``coverage``: how many cells were decided, or measured when there was nothing to compare with.
    ``unmeasured``: how many of them have no time and why, empty where all were measured. ``why``: the first conclusion
    that most slower cells share, empty where there is none. ``counts``: gated cells by verdict, worst first.
    """

    state: str
    title: str
    text: str
    coverage: str
    unmeasured: str
    why: str
    counts: list[tuple[str, int]]
    advice: list[str]


def headline(record: Record, judgement: Judgement) -> Headline:
    """Return the headline of a judgement."""
    gated = [cell for cell in judgement.verdicts if cell.gated]
    counted = Counter(cell.verdict for cell in gated)
    state = _state(record, judgement)
    alone = record.header.base is None
    timed = counted[Verdict.NEW] + counted[Verdict.BELOW_FLOOR] + counted[Verdict.UNDECIDED]
    measured = f"{timed} of {len(gated)} measured"
    return Headline(
        state=state,
        title=TITLES[state],
        text=_text(state, gated, counted),
        coverage=measured if alone else judgement.coverage.text,
        unmeasured=_unmeasured(judgement),
        why=_why(judgement),
        counts=[(verdict.value, counted[verdict]) for verdict in SEVERITY if counted[verdict]],
        advice=_advice(gated, state),
    )


def verdict_word(verdict: Verdict, reason: Reason | None = None) -> str:
    """Return a verdict as readers see it: ``measured`` without a base, ``identical`` without a time."""
    if reason is Reason.IDENTICAL:
        return "identical"
    return "measured" if reason is Reason.MEASURED_ALONE and verdict is Verdict.NEW else verdict.value.replace("_", " ")


def _unmeasured(judgement: Judgement) -> str:
    without = sum(cell.reason is Reason.IDENTICAL for cell in judgement.verdicts)
    if not without:
        return ""
    cells = sum(key != NULL_KERNEL for key in judgement.facts)
    return f"{without} of {cells} not measured: nothing that they run has changed"


def _why(judgement: Judgement) -> str:
    slower = [cell.key for cell in judgement.verdicts if cell.gated and cell.verdict is Verdict.SLOWER]
    found = [judgement.reasons[key].sentences for key in slower if key in judgement.reasons]
    shared = Counter(sentences[0] for sentences in found if sentences).most_common(1)
    if not shared:
        return ""
    sentence, count = shared[0]
    return plain(sentence) + (f" ({count} of {len(slower)} slower cells)" if len(slower) > 1 else "")


def _state(record: Record, judgement: Judgement) -> str:
    if judgement.exit_code == ExitCode.OK:
        return "measured" if record.header.base is None else "pass"
    return {ExitCode.SLOWER: "fail", ExitCode.UNTRUSTED: "untrusted"}.get(ExitCode(judgement.exit_code), "undecided")


def _text(state: str, gated: Sequence[CellVerdict], counted: Counter[Verdict]) -> str:
    if not gated:
        return "no gated cell was measured"
    if state == "fail":
        first, *others = [
            (counted[verdict], verdict_word(verdict)) for verdict in SEVERITY if verdict in FAILING and counted[verdict]
        ]
        plural = "s" if len(gated) != 1 else ""
        said = [f"{first[0]} of {len(gated)} cell{plural} {first[1]}", *(f"{count} {word}" for count, word in others)]
        return f"{', '.join(said)}; worst: {_worst(gated)}"
    if state == "pass":
        faster, accepted = counted[Verdict.FASTER], counted[Verdict.ACCEPTED]
        than = f" than accepted, {accepted} within that" if accepted else ""
        return f"nothing is slower{than}" + (f", {faster} faster" if faster else "")
    if state == "measured":
        return "head alone, there is no base to compare with"
    if state == "untrusted":
        return f"{counted[Verdict.VOID]} of {len(gated)} cells could not be measured"
    reasons = {cell.reason for cell in gated if cell.verdict is Verdict.UNDECIDED}
    if reasons == {Reason.FLOOR_UNCHECKED}:
        return "no SOL floor could be checked"
    return "the noise hides what the gate must catch" if reasons else "nothing was compared"


def _worst(gated: Sequence[CellVerdict]) -> str:
    failing = [cell for cell in gated if cell.verdict in FAILING]
    cell = min(failing, key=lambda cell: (SEVERITY.index(cell.verdict), -_ratio(cell)))
    if cell.verdict is Verdict.SLOWER and cell.slowdown_ratio is not None:
        return f"{plain(cell.key)} {change_with_error(cell.slowdown_ratio)}"
    return f"{plain(cell.key)} {verdict_word(cell.verdict)}"


def _ratio(cell: CellVerdict) -> float:
    return cell.slowdown_ratio.point if cell.slowdown_ratio is not None else 0.0


def _advice(gated: Sequence[CellVerdict], state: str) -> list[str]:
    kinds = {cell.verdict for cell in gated}
    advice = []
    if Verdict.SLOWER in kinds:
        advice.append(
            "slower is meant? solwatch accept CELL --max 3% --reason WHY writes it down, for review with the commit"
        )
    if Verdict.BROKEN in kinds:
        advice.append("broken cells fail before they are timed: run the operator's tests")
    if Verdict.BELOW_FLOOR in kinds:
        advice.append("below its floor: make the kernel faster, or lower sol_floor in [[tool.solwatch.cells]]")
    if Verdict.VOID in kinds:
        advice.append("void cells could not be measured here: solwatch doctor checks the machine")
    reasons = {cell.reason for cell in gated if cell.verdict is Verdict.UNDECIDED}
    advice += [f"undecided cells need {needed}" for reason, needed in _NEEDED.items() if reason in reasons]
    if state == "undecided" and not gated:
        advice.append("no cell was gated: widen --set or --bench")
    return advice
