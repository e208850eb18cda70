"""A finished bisection as lines and rows that are ready to be shown.

Text from outside is quoted by whoever shows it: what is harmless on a terminal is markup elsewhere.
"""

import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from solwatch.model.bisection import CellAnswer, Figure, Found, GateTaken, State
from solwatch.model.errors import ExitCode
from solwatch.model.verdict import Verdict
from solwatch.render.bisecting import COMPARED, SHORT, duration, figure_text
from solwatch.render.headline import SEVERITY, verdict_word
from solwatch.render.units import ABSENT

Quote = Callable[[str, int], str]
"""Makes text from outside harmless where it is to be shown, at most so many characters of it."""

MOST_NAMED = 12

GATES = ("gate", "commit", "against", "verdict", "change", "rounds", "time", "record")
CELLS = ("cell", "first slower commit", "bad/good", "against the commit before")


@dataclass(frozen=True)
class BisectedView:
    """The answer in one line, then tables (rows of text under the titles above), notes and what to do next."""

    headline: str
    gates: list[tuple[str, ...]]
    cells: list[tuple[str, ...]]
    notes: list[str]
    advice: list[str]


def bisected_view(found: Found, quote: Quote) -> BisectedView:
    """Return the view of ``found``."""
    return _Viewing(found, quote).view()


class _Viewing:
    def __init__(self, found: Found, quote: Quote) -> None:
        self._found = found
        self._quote = quote
        self._commits = {commit.sha: commit for commit in found.commits}
        convicted = [answer for answer in found.answers if answer.state is State.CONFIRMED]
        self._main = next(iter(convicted + found.answers), None)

    def view(self) -> BisectedView:
        return BisectedView(
            headline=self._headline(),
            gates=[self._gate(number, gate) for number, gate in enumerate(self._found.gates, 1)],
            cells=[self._cell(answer) for answer in self._found.answers],
            notes=[*self._skipped(), *self._returns(), *self._taken_back(), *self._others()],
            advice=self._advice(),
        )

    def _headline(self) -> str:
        count = len(self._found.gates)
        taken = f"{count} gate{'s' if count != 1 else ''}, {duration(sum(gate.wall_s for gate in self._found.gates))}"
        main = self._main
        if main is None:
            bad, good = self._found.commits[-1], self._found.commits[0]
            what = {ExitCode.OK: "nothing is slower", ExitCode.UNTRUSTED: "nothing could be measured"}.get(
                ExitCode(self._found.exit_code), "nothing was decided"
            )
            return f"{what}: {bad.sha[:SHORT]} against {good.sha[:SHORT]}, {taken}"
        cell = self._quote(main.cell, 120)
        last = main.suspects[-1]
        if main.state is State.CONTRADICTED:
            return (
                f"no first slower commit: {self._named(last)} is {figure_text(main.against_good)} against "
                f"{self._found.commits[0].sha[:SHORT]} in {cell}, and {figure_text(main.direct)} against "
                f"{main.before[:SHORT]} before it, {taken}"
            )
        sure = "" if main.state is State.CONFIRMED else ", not confirmed"
        which = "" if len(main.suspects) == 1 else f"one of {len(main.suspects)}, at the latest "
        figure = main.direct if main.state is State.CONFIRMED else main.against_good
        return f"first slower commit{sure}: {which}{self._named(last)}, {figure_text(figure)} in {cell}, {taken}"

    def _gate(self, number: int, gate: GateTaken) -> tuple[str, ...]:
        figure = gate.cells.get(self._main.cell) if self._main else None
        figure = figure or min(gate.cells.values(), key=lambda one: SEVERITY.index(one.verdict), default=None)
        head = self._commits[gate.head]
        measured = figure is not None and figure.verdict in COMPARED
        return (
            str(number),
            f"{head.sha[:SHORT]} {self._quote(head.subject, 50)}",
            gate.base[:SHORT],
            verdict_word(figure.verdict, figure.reason) if figure is not None else "skipped",
            figure_text(figure) if measured else ABSENT,
            str(gate.rounds) if gate.record is not None else ABSENT,
            duration(gate.wall_s),
            self._quote(gate.record.rpartition("/")[2].removesuffix(".jsonl"), 80) if gate.record else ABSENT,
        )

    def _cell(self, answer: CellAnswer) -> tuple[str, ...]:
        return (
            self._quote(answer.cell, 120),
            self._where(answer),
            figure_text(answer.total),
            ABSENT if answer.direct is None or answer.state is State.OPEN else figure_text(answer.direct),
        )

    def _where(self, answer: CellAnswer) -> str:
        first, last = answer.suspects[0][:SHORT], answer.suspects[-1][:SHORT]
        which = last if len(answer.suspects) == 1 else f"one of {len(answer.suspects)}, {first} to {last}"
        return {
            State.CONFIRMED: which,
            State.UNCONFIRMED: f"{which}, not confirmed",
            State.CONTRADICTED: f"none: {last} is not slower than {answer.before[:SHORT]}",
            State.OPEN: f"open: {which}",
        }[answer.state]

    def _named(self, sha: str) -> str:
        commit = self._commits[sha]
        by = f"{self._quote(commit.author, 60)}, {self._date(commit.committed_at)}"
        return f"{sha[:SHORT]} {self._quote(commit.subject, 100)} ({by})"

    def _date(self, iso: str) -> str:
        try:
            return datetime.fromisoformat(iso.replace("Z", "+00:00")).date().isoformat()
        except ValueError:
            return self._quote(iso, 40)

    def _skipped(self) -> list[str]:
        """Return why each commit is among the suspects that no gate could tell apart."""
        main = self._main
        if main is None or len(main.suspects) == 1:
            return []
        why = {}
        for gate in self._found.gates:
            figure = gate.cells.get(main.cell)
            told = verdict_word(figure.verdict, figure.reason) if figure is not None else "not measured"
            why[gate.head] = self._quote(gate.failed, 160) if gate.failed is not None else told
        lines = [
            f"{sha[:SHORT]} could not be tested: {why.get(sha, 'it builds and measures what another one does')}"
            for sha in main.suspects[:-1]
            if sha not in main.untested
        ]
        if main.untested:
            lines.append(
                f"{len(main.untested)} commits in between were not tried, since so many others could not be tested: "
                "--skips raises the limit"
            )
        return lines[:MOST_NAMED] + ([f"and {len(lines) - MOST_NAMED} more"] if lines[MOST_NAMED:] else [])

    def _returns(self) -> list[str]:
        lines = []
        for answer in self._found.answers:
            for one in answer.returns[:MOST_NAMED]:
                lines.append(
                    f"the history is not monotonic in {self._quote(answer.cell, 120)}: {one.slower[:SHORT]} is slower "
                    f"({self._against_good(one.slower, one.slower_figure)}), {one.good[:SHORT]} after it is not "
                    f"({self._against_good(one.good, one.good_figure)})"
                )
            if answer.state is State.CONTRADICTED:
                lines.append(
                    f"{self._quote(answer.cell, 120)}: against {self._found.commits[0].sha[:SHORT]}, "
                    f"{answer.before[:SHORT]} is {figure_text(answer.before_against_good)} and "
                    f"{answer.suspects[-1][:SHORT]} is {figure_text(answer.against_good)}, but directly they differ by "
                    f"{figure_text(answer.direct)}: the history is not monotonic, or several commits have a small "
                    "share each"
                )
        return lines

    def _against_good(self, sha: str, figure: Figure | None) -> str:
        if figure is not None:
            return figure_text(figure)
        end = self._found.commits[0] if sha in self._found.taken_back else self._found.commits[-1]
        return f"same build and suite as {end.sha[:SHORT]}"

    def _taken_back(self) -> list[str]:
        """Return a line on the last commit that takes everything back, where it lies in front of the answer."""
        order = [commit.sha for commit in self._found.commits]
        if self._main is None:
            return []
        before = [sha for sha in self._found.taken_back if order.index(sha) < order.index(self._main.suspects[0])]
        if not before:
            return []
        count = order.index(before[-1]) - 1
        return [
            f"{before[-1][:SHORT]} has the build and suite of {order[0][:SHORT]} again: what the "
            f"{count} commit{'s' if count != 1 else ''} before it did was taken back, and is not searched"
        ]

    def _others(self) -> list[str]:
        counted = Counter(verdict_word(figure.verdict, figure.reason) for figure in self._found.others.values())
        if not counted:
            return []
        told = ", ".join(f"{count} {word}" for word, count in counted.most_common())
        bad, good = self._found.commits[-1].sha, self._found.commits[0].sha
        return [f"{'other' if self._main else 'all'} cells of {bad[:SHORT]} against {good[:SHORT]}: {told}"]

    def _advice(self) -> list[str]:
        main, found = self._main, self._found
        ends = [found.commits[0].sha[:SHORT], found.commits[-1].sha[:SHORT]]
        lines = []
        deciding = self._deciding()
        if deciding is not None and deciding.record is not None:
            command = shlex.join(["solwatch", "report", deciding.record])
            lines.append(f"{self._quote(command, 400)} shows {deciding.head[:SHORT]} against {deciding.base[:SHORT]}")
        if any(figure.verdict is Verdict.BROKEN for figure in found.others.values()):
            lines.append(f"broken is not slower: solwatch gate {shlex.join(ends)} says what fails")
        if main is None:
            return lines
        if len(self._commits[main.suspects[-1]].parents) > 1 and not found.asked.inside_merges:
            lines.append(f"{main.suspects[-1][:SHORT]} is a merge: --inside-merges searches what it brought in")
        if any(answer.state is State.OPEN for answer in found.answers):
            lines.append("--all goes on for the cells that are open")
        if main.state is State.CONFIRMED and _leaves_a_rest(main):
            lines.append(
                f"of {figure_text(main.total)} it explains {figure_text(main.against_good)}: "
                f"solwatch bisect {main.suspects[-1][:SHORT]} {ends[1]} searches for the rest"
            )
        return lines

    def _deciding(self) -> GateTaken | None:
        """Return the gate that decided: of the last suspect against what lies before it, else the first one."""
        main = self._main
        if main is None:
            return next(iter(self._found.gates), None)
        direct = [
            gate
            for gate in self._found.gates
            if gate.head == main.suspects[-1] and gate.cells.get(main.cell) in (main.direct, main.against_good)
        ]
        return direct[-1] if direct else self._found.gates[0]


def _leaves_a_rest(answer: CellAnswer) -> bool:
    share = answer.against_good.slowdown_ratio if answer.against_good is not None else None
    whole = answer.total.slowdown_ratio
    if share is None or whole is None or share.high is None or whole.low is None:
        return False
    return share.high < whole.low
