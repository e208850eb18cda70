"""solwatch's own rule, paced as its gate paces it."""

from dataclasses import dataclass

import msgspec

from judges.judge import Ruling
from judges.run import Run
from solwatch.judge.pacing import CARRIERS
from solwatch.judge.rule import ComparedCell, Rule
from solwatch.model.verdict import Verdict


@dataclass(frozen=True)
class SolwatchGate:
    """``solwatch.judge``: ``gate`` decides after every round; a cell that is through is measured no more.

    An alarm of the null kernel, which is a cell of the gate, counts as one of a cell.
    """

    gate: Rule

    @property
    def name(self) -> str:
        """``solwatch``."""
        return "solwatch"

    @property
    def sees(self) -> str:
        """As many rounds as it asks for."""
        return f"{self.gate.looks[0]} to {self.gate.most_rounds} rounds"

    def rule(self, run: Run) -> Ruling:
        """Return the cells that the gate calls slower, and how many cells each round measured."""
        compared = [cell.compared for cell in run.cells] + ([run.null] if run.null else [])
        keys = {cell.key for cell in run.cells}
        open_cells = [len(keys)] * self.gate.looks[0]
        completed = self.gate.looks[0]
        while True:
            ended = completed == self.gate.most_rounds
            decisions = self.gate.decide(
                _until(compared, completed), family=len(compared), completed=completed, ended=ended
            )
            going_on = {key for key, decision in decisions.items() if not decision.final}
            if ended or not going_on:
                return Ruling({key for key, each in decisions.items() if each.verdict is Verdict.SLOWER}, open_cells)
            # The null kernel is timed in turn with cells: alone, it takes some along.
            open_cells.append(len(going_on & keys) or min(CARRIERS, len(keys)))
            completed += 1


def _until(compared: list[ComparedCell], completed: int) -> list[ComparedCell]:
    return [
        msgspec.structs.replace(cell, replicates=[each for each in cell.replicates if each.ordinal <= completed])
        for cell in compared
    ]
