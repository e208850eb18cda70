"""Recorded rounds of one build against itself, as far as the rule needs them."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from solwatch.app.condensing import replayed
from solwatch.judge.launch_path import NULL_KERNEL, null_info
from solwatch.judge.series import rounds_by_cell, series
from solwatch.judge.thresholds import cell_thresholds
from solwatch.model.config import Config
from solwatch.model.errors import RequestError
from solwatch.workspace.corpus import read_corpus

LABEL = "a/a"
LEAST_ROUNDS = 20


@dataclass(frozen=True)
class Recorded:
    """The rounds of one cell: log(slot 0 / slot 1) of each, and what the cell is held to."""

    by_slot: list[float]
    base_s: float
    min_effect: float
    margin: float


@dataclass(frozen=True)
class Stretch:
    """The rounds of one file. ``occasion``: what the file says it belongs to; ``head_slots``: the coins as recorded.

    ``cells``: those that have every round, the null kernel among them.
    """

    name: str
    occasion: str
    head_slots: list[int]
    cells: dict[str, Recorded]

    @property
    def gated(self) -> int:
        """How many cells there are beside the null kernel."""
        return len(set(self.cells) - {NULL_KERNEL})

    def taken(self, rounds: Sequence[int]) -> "Stretch":
        """Return the stretch with only ``rounds``, by position, in that order; one may be taken several times."""
        return replace(
            self,
            head_slots=[self.head_slots[at] for at in rounds],
            cells={key: replace(cell, by_slot=[cell.by_slot[at] for at in rounds]) for key, cell in self.cells.items()},
        )


def stretches(paths: Sequence[Path], config: Config) -> list[Stretch]:
    """Return the A/A files among ``paths``; raises ``RequestError`` when there is none, or one has too few rounds."""
    found = [stretch(path, config) for path in paths if read_corpus(path).header.label == LABEL]
    if not found:
        raise RequestError(
            f"0 of {len(paths)} corpus files are labelled {LABEL}, 1 is needed: record one with solwatch record"
        )
    return found


def stretch(path: Path, config: Config) -> Stretch:
    """Return the rounds of a corpus; raises ``RequestError`` when there are too few to draw from."""
    record, header = replayed(path), read_corpus(path).header
    if len(record.rounds) < LEAST_ROUNDS:
        raise RequestError(f"{path} has {len(record.rounds)} rounds, wanted {LEAST_ROUNDS} to draw from: record more")
    infos = {cell.key: cell for cell in record.header.cells if cell.gated}
    found = {}
    for key, rounds in rounds_by_cell(record).items():
        facts = series(rounds)
        by_slot = [
            fact.log_ratio if fact.head_slot == 0 else -fact.log_ratio for fact in facts if fact.log_ratio is not None
        ]
        if (key != NULL_KERNEL and key not in infos) or len(by_slot) < len(record.rounds):
            continue
        base_s = statistics.fmean(fact.base_s for fact in facts if fact.base_s is not None)
        info = infos.get(key) or null_info()
        limits = cell_thresholds(config, info, device=record.header.fingerprint.device, base_s=base_s)
        found[key] = Recorded(by_slot, base_s, limits.min_effect, limits.margin)
    if not set(found) - {NULL_KERNEL}:
        raise RequestError(f"{path} has no gated cell with all of its rounds: record it again")
    return Stretch(path.name, header.occasion or path.name, [each.head_slot for each in record.rounds], found)
