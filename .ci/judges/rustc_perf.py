"""rustc-perf's significance rule."""

from dataclasses import dataclass

import numpy as np

from judges.judge import Ruling
from judges.recording import FloatArray
from judges.run import Cell, Run

IQR_MULTIPLIER = 3.0


@dataclass(frozen=True)
class RustcPerf:
    """A change as large as few between the 30 commits before.

    rust-lang/rustc-perf, ``site/src/comparison.rs``, ``HistoricalData::significance_threshold`` and
    ``TestResultComparison::is_significant``: |Δ| >= Q3 + 3 (Q3 - Q1) of the absolute relative changes between
    neighbours, Q1 and Q3 the medians of the lower and the upper half. ``docs/comparison-analysis.md`` says 1.5 in its
    prose and 3 in its formula; the code has 3.
    """

    name: str = "rustc-perf, Q3 + 3 IQR"
    sees: str = "1 process a side, 30 commits"

    def rule(self, run: Run) -> Ruling:
        """Return the cells with a significant regression."""
        return Ruling({cell.key for cell in run.cells if self.calls_slower(cell)}, [len(run.cells)])

    def calls_slower(self, cell: Cell) -> bool:
        """Return whether the cell's change is a significant regression."""
        head_s, base_s = cell.heads[0].mean(), cell.bases[0].mean()
        return bool(head_s > base_s and (head_s - base_s) / base_s >= significance_threshold(cell.history_s))


def significance_threshold(history: FloatArray) -> float:
    """Return the fence over the changes in ``history``, at least three values in order."""
    changes = np.sort(np.abs(np.diff(history)) / history[:-1])
    half = len(changes) // 2
    lower, upper = float(np.median(changes[:half])), float(np.median(changes[-half:]))
    return upper + IQR_MULTIPLIER * (upper - lower)
