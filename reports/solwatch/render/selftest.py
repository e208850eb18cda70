"""A selftest as text: whether the machine can be trusted, sizes against detection, what to do."""

from collections.abc import Sequence

from solwatch.judge.selftest import Answer, CheckedCell, CheckedGate, Selftest, smallest_due
from solwatch.model.errors import ExitCode
from solwatch.model.plain import plain
from solwatch.model.verdict import Verdict
from solwatch.render.headline import verdict_word
from solwatch.render.tables import text_table
from solwatch.render.units import ABSENT, change, detectable, percentage, scaled

_TITLES = {ExitCode.OK: "PASS", ExitCode.UNTRUSTED: "FAIL", ExitCode.UNDECIDED: "UNDECIDED"}
_NAMES = {
    Answer.RIGHT: "as due",
    Answer.OPEN: "left open",
    Answer.ALARM: "FALSE ALARM",
    Answer.MISSED: "MISSED",
    Answer.UNTRUE: "WRONG RATIO",
    Answer.UNMEASURED: "NOT MEASURED",
}
_ADVICE = {
    Answer.ALARM: "a false alarm: something changes between processes here; solwatch doctor checks the machine, "
    "solwatch calibrate shows how rounds scatter",
    Answer.MISSED: "a missed slowdown, by chance in 1 % of cells: run it again; twice is no chance",
    Answer.UNTRUE: "a wrong ratio: the device's clock or another process favours one side; solwatch doctor checks it",
    Answer.UNMEASURED: "cells without a verdict: solwatch doctor checks the machine",
    Answer.OPEN: "left open: a quieter machine, or more time (--budget); the MDE says what was seen surely",
}


def render_selftest(found: Selftest, *, width: int = 120) -> str:
    """Return the verdict first, the table second, advice last."""
    lines = [
        f"{_TITLES[found.exit_code]}  {_same(found.same)}; {_planted(found.planted)}{_claim(found)}",
        f"{plain(found.fingerprint.model)}, {found.same.rounds} and {found.planted.rounds} rounds "
        f"in {found.same.wall_s + found.planted.wall_s:.0f} s, seed {found.seed}",
        "",
        _table(found, width),
    ]
    advice = _advice(found)
    return "\n".join([*lines, *([""] if advice else []), *(f"→ {line}" for line in advice)])


def _claim(found: Selftest) -> str:
    if found.min_effect == found.usual_min_effect:
        return ""
    return f" (a min effect of {percentage(found.min_effect)}, not {percentage(found.usual_min_effect)})"


def _same(gate: CheckedGate) -> str:
    slower = sum(cell.verdict is Verdict.SLOWER for cell in gate.cells)
    undecided = sum(cell.verdict is Verdict.UNDECIDED for cell in gate.cells)
    said = f"A/A: {slower} of {len(gate.cells)} slower"
    return said + (f", {undecided} undecided" if undecided else "") + _others(gate, Answer.UNTRUE, Answer.UNMEASURED)


def _planted(gate: CheckedGate) -> str:
    least = smallest_due(gate.cells)
    said = "planted: nothing large enough to be due"
    if least is not None:
        due = [cell for cell in gate.cells if cell.planted >= least]
        caught = sum(cell.verdict is Verdict.SLOWER for cell in due)
        count = "all" if caught == len(due) else f"{caught} of {len(due)}"
        said = f"planted {percentage(least)} and more: {count} caught"
    return said + _others(gate, Answer.ALARM, Answer.UNTRUE, Answer.UNMEASURED)


def _others(gate: CheckedGate, *answers: Answer) -> str:
    counts = {answer: len(gate.with_answer(answer)) for answer in answers}
    return "".join(f", {count} {_NAMES[answer].lower()}" for answer, count in counts.items() if count)


def _table(found: Selftest, width: int) -> str:
    titles = ["work", "due", "verdict", "answer", "planted", "head/base", "95 % interval", "MDE", "base"]
    shown = [("A/A ", cell) for cell in found.same.cells if cell.answer is not Answer.RIGHT]
    shown += [("", cell) for cell in sorted(found.planted.cells, key=lambda cell: (cell.planted, cell.base_s or 0.0))]
    return text_table(titles, [_row(prefix, cell) for prefix, cell in shown], left=4, width=width)


def _row(prefix: str, cell: CheckedCell) -> list[str]:
    ratio = cell.ratio
    interval = ABSENT
    if ratio is not None and ratio.low is not None and ratio.high is not None:
        interval = f"{change(ratio.low, ratio.point)} … {change(ratio.high, ratio.point)}"
    return [
        f"{prefix}{_length(cell.key)}",
        cell.due.value,
        verdict_word(cell.verdict),
        _NAMES[cell.answer],
        change(1 + (cell.planted if cell.expected is None else cell.expected)),
        change(ratio.point if ratio else None),
        interval,
        detectable(cell.mde),
        scaled(cell.base_s, "s"),
    ]


def _length(key: str) -> str:
    """Return the last parameter of a cell's name, ``short`` or ``long``; the null kernel has none."""
    return plain(key.rpartition(", ")[2].strip("')"))


def _advice(found: Selftest) -> Sequence[str]:
    answers = {cell.answer for cell in [*found.same.cells, *found.planted.cells]}
    said = [text for answer, text in _ADVICE.items() if answer in answers]
    if found.says_nothing and Answer.OPEN not in answers:
        said.append(_ADVICE[Answer.OPEN])
    if not said:
        said.append("the ruler and the rule can be trusted here; what your own cells can hold: solwatch calibrate")
    if found.min_effect != found.usual_min_effect:
        said.append(
            f"rounds scatter too much here for the usual min effect of {percentage(found.usual_min_effect)}: "
            f"set min_effect_cpu = {found.min_effect:g}, or make the machine quieter"
        )
    return said
