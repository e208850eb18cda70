"""The verdict on the whole commit in one line, and what to do about it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from solwatch.judge.judgement import Judgement
from solwatch.model.errors import ExitCode
from solwatch.model.record import Record
from solwatch.model.verdict import FAILING, CellVerdict, Verdict
from solwatch.render.plain import plain
from solwatch.render.units import change

SEVERITY = (
    Verdict.SLOWER,
    Verdict.BROKEN,
    Verdict.BELOW_FLOOR,
    Verdict.VOID,
    Verdict.UNDECIDED,
    Verdict.NEW,
    Verdict.FASTER,
    Verdict.UNCHANGED,
)
"""Verdicts, worst first: the order in which cells are shown."""


@dataclass(frozen=True)
class Headline:
    """``state``: ``fail``, ``pass``, ``untrusted``, ``undecided`` or ``measured``; ``text``: the verdict line."""

    state: str
    title: str
    text: str
    counts: list[tuple[Verdict, int]]
    advice: list[str]


def headline(record: Record, judgement: Judgement) -> Headline:
    """Return the headline of a judgement."""
    gated = [cell for cell in judgement.verdicts if cell.gated]
    counted = Counter(cell.verdict for cell in gated)
    counts = [(verdict, counted[verdict]) for verdict in SEVERITY if counted[verdict]]
    state = _state(record, judgement, gated)
    return Headline(
        state=state,
        title={
            "fail": "FAIL",
            "pass": "PASS",
            "untrusted": "NOT TRUSTED",
            "undecided": "NOTHING DECIDED",
            "measured": "MEASURED",
        }[state],
        text=_text(state, record, judgement, gated, counts),
        counts=counts,
        advice=_advice(record, gated, state),
    )


def _state(record: Record, judgement: Judgement, gated: Sequence[CellVerdict]) -> str:
    if judgement.exit_code == ExitCode.OK:
        return "measured" if record.header.base is None else "pass"
    return {ExitCode.SLOWER: "fail", ExitCode.UNTRUSTED: "untrusted"}.get(ExitCode(judgement.exit_code), "undecided")


def _text(
    state: str,
    record: Record,
    judgement: Judgement,
    gated: Sequence[CellVerdict],
    counts: Sequence[tuple[Verdict, int]],
) -> str:
    spoken = ", ".join(f"{count} {_word(verdict)}" for verdict, count in counts)
    coverage = judgement.coverage.text
    if state == "measured":
        return f"{coverage}; head alone, nothing to compare it with"
    if state == "pass":
        return f"nothing is slower: {spoken} ({coverage})"
    if state == "fail":
        return f"{spoken} ({coverage}); worst: {_worst(gated)}"
    if not gated:
        return "no gated cell was measured"
    return f"{spoken} ({coverage})"


def _word(verdict: Verdict) -> str:
    return verdict.value.replace("_", " ")


def _worst(gated: Sequence[CellVerdict]) -> str:
    failing = [cell for cell in gated if cell.verdict in FAILING]
    failing.sort(
        key=lambda cell: (SEVERITY.index(cell.verdict), -(cell.slowdown_ratio.point if cell.slowdown_ratio else 0))
    )
    cell = failing[0]
    if cell.verdict is Verdict.SLOWER and cell.slowdown_ratio is not None:
        return f"{plain(cell.key)} {change(cell.slowdown_ratio.point)}"
    return f"{plain(cell.key)} {_word(cell.verdict)}"


def _advice(record: Record, gated: Sequence[CellVerdict], state: str) -> list[str]:
    kinds = {cell.verdict for cell in gated}
    advice = []
    if Verdict.SLOWER in kinds:
        advice.append(
            "slower is meant? Raise min_effect for the cell in [[tool.solwatch.cells]], and say why in the commit"
        )
    if Verdict.BROKEN in kinds:
        advice.append("broken cells fail before they are timed: run the operator's tests")
    if Verdict.BELOW_FLOOR in kinds:
        advice.append("below its floor: make the kernel faster, or lower sol_floor in [[tool.solwatch.cells]]")
    if Verdict.VOID in kinds:
        advice.append("void cells could not be measured here: solwatch doctor checks the machine")
    if Verdict.UNDECIDED in kinds:
        stopped = record.end.stopped if record.end is not None else "before its end"
        raised = "a larger budget_s" if stopped == "budget" else "more rounds or a quieter machine"
        advice.append(f"undecided cells need {raised}; measuring stopped: {stopped}")
    if state == "undecided" and not gated:
        advice.append("no cell was gated: widen --set or --bench")
    return advice
