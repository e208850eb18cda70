"""What every rule answers of a run."""

from dataclasses import dataclass
from typing import Protocol

from judges.recording import Recording
from judges.run import Run


@dataclass(frozen=True)
class Ruling:
    """``slower``: keys of the cells called slower. ``open_cells``: for each round taken, how many cells it measured."""

    slower: set[str]
    open_cells: list[int]

    def seconds(self, recording: Recording) -> float:
        """Return the wall time of the rounds: a pair is opened in each, a cell takes its share of the rest."""
        cell_s = (recording.wall_s - recording.opening_s) / len(recording.keys)
        return sum(recording.opening_s + count * cell_s for count in self.open_cells)


class Judge(Protocol):
    """One rule. ``name``: as the table shows it; ``sees``: what its user has."""

    @property
    def name(self) -> str:
        """Short, with its threshold."""

    @property
    def sees(self) -> str:
        """What its user has before them."""

    def rule(self, run: Run) -> Ruling:
        """Return which cells are called slower, and what was measured for it."""
