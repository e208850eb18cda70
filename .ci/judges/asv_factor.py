"""asv's rule, by asv's own functions."""

from dataclasses import dataclass

import numpy as np
from asv.commands.compare import _is_result_better
from asv_runner.statistics import compute_stats

from judges.judge import Ruling
from judges.recording import FloatArray
from judges.run import Cell, Run


@dataclass(frozen=True)
class AsvFactor:
    """Medians apart by ``factor`` and samples different.

    asv 0.6.6, ``asv.commands.compare._is_result_better`` with ``asv._stats.is_different`` (Mann-Whitney at 0.002, or
    99 % intervals that don't overlap where there are too few samples), as ``asv continuous`` calls it. asv's own
    sample is the mean of the calls that fit into 10 ms: a recorded block is as long, so that the centres of the blocks
    are the samples. ``processes``: the benchmark's attribute ``rounds``.
    """

    factor: float
    processes: int = 2

    @property
    def name(self) -> str:
        """``asv``, and the factor."""
        return f"asv continuous, factor {self.factor:g}"

    @property
    def sees(self) -> str:
        """So many processes a side."""
        return f"{self.processes} processes a side"

    def rule(self, run: Run) -> Ruling:
        """Return the cells that asv marks with +."""
        slower = {cell.key for cell in run.cells if self.calls_slower(cell)}
        return Ruling(slower, [len(run.cells)] * self.processes)

    def calls_slower(self, cell: Cell) -> bool:
        """Return whether asv would mark the cell with +."""
        base, head = _samples(cell.bases[: self.processes]), _samples(cell.heads[: self.processes])
        medians = float(np.median(base)), float(np.median(head))
        # Without the samples' statistics asv looks at the factor alone: where that says no, they needn't be taken.
        if not _is_result_better(*medians, None, None, self.factor):
            return False
        return bool(_is_result_better(*medians, _with_statistics(base), _with_statistics(head), self.factor))


def _samples(processes: list[FloatArray]) -> list[float]:
    return [float(value) for centres_s in processes for value in centres_s]


def _with_statistics(samples: list[float]) -> tuple[dict[str, float], list[float]]:
    return compute_stats(samples, 1)[1], samples
