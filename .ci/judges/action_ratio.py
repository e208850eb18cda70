"""github-action-benchmark's alert."""

from dataclasses import dataclass

from judges.judge import Ruling
from judges.run import Cell, Run


@dataclass(frozen=True)
class ActionRatio:
    """A value more than ``threshold`` times the previous commit's.

    benchmark-action/github-action-benchmark, ``src/write.ts`` (commit 019cbcb, ``findAlerts``, ``getRatio``), for a
    tool whose smaller value is better; ``alert-threshold`` is 200 % by default.
    """

    threshold: float
    sees: str = "1 process a side"

    @property
    def name(self) -> str:
        """The action and its threshold."""
        return f"github-action-benchmark, {100 * self.threshold:g} %"

    def rule(self, run: Run) -> Ruling:
        """Return the cells with an alert."""
        return Ruling({cell.key for cell in run.cells if self.calls_slower(cell)}, [len(run.cells)])

    def calls_slower(self, cell: Cell) -> bool:
        """Return whether there is an alert for the cell."""
        return bool(cell.head_samples_s.mean() / cell.base_samples_s.mean() > self.threshold)
