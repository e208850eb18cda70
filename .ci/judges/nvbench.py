"""NVBench's comparison of two runs."""

from dataclasses import dataclass

from judges.judge import Ruling
from judges.run import Cell, Run


@dataclass(frozen=True)
class NvbenchNoise:
    """Means apart by more than the smaller relative standard deviation of the two.

    NVIDIA/nvbench, ``python/scripts/nvbench_compare.py`` (commit 728212f, ``compare_benches``), kept as
    ``nvbench_compare_legacy.py`` (commit 0f6e712, ``compare_gpu_timings``): SLOW where head's mean cold time is above
    base's by more than ``min_noise``.
    """

    name: str = "nvbench_compare"
    sees: str = "1 process a side"

    def rule(self, run: Run) -> Ruling:
        """Return the cells that are SLOW."""
        return Ruling({cell.key for cell in run.cells if self.calls_slower(cell)}, [len(run.cells)])

    def calls_slower(self, cell: Cell) -> bool:
        """Return whether the cell is SLOW."""
        head, base = cell.head_samples_s, cell.base_samples_s
        if len(head) < 2 or len(base) < 2:
            return False  # "????": without a deviation nothing is said
        noise = min(head.std(ddof=1) / head.mean(), base.std(ddof=1) / base.mean())
        return bool((head.mean() - base.mean()) / base.mean() > noise)
