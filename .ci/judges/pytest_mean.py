"""pytest-benchmark's gate, by its own check."""

from dataclasses import dataclass

from pytest_benchmark.utils import parse_compare_fail

from judges.judge import Ruling
from judges.run import Cell, Run


@dataclass(frozen=True)
class PytestMean:
    """A statistic above the stored one's by a percentage.

    pytest-benchmark 5.3.1, ``--benchmark-compare-fail=mean:1%``: ``pytest_benchmark.utils.parse_compare_fail`` and
    ``PercentageRegressionCheck.fails``.
    """

    option: str = "mean:1%"
    sees: str = "1 process a side"

    @property
    def name(self) -> str:
        """The option that asks for it."""
        return f"pytest-benchmark, {self.option}"

    def rule(self, run: Run) -> Ruling:
        """Return the cells that fail."""
        return Ruling({cell.key for cell in run.cells if self.calls_slower(cell)}, [len(run.cells)])

    def calls_slower(self, cell: Cell) -> bool:
        """Return whether the cell fails."""
        means = [{"mean": float(samples.mean())} for samples in (cell.head_samples_s, cell.base_samples_s)]
        check = parse_compare_fail(self.option)  # type: ignore[no-untyped-call]  # published without types
        return bool(check.fails(*means))
