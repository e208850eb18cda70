"""Recorded rounds of one build against itself, as far as a judge can use them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from solwatch.app.condensing import replayed
from solwatch.judge.case import cases
from solwatch.judge.rule import ComparedCell, Replicate
from solwatch.model.columns import per_block, per_side
from solwatch.model.config import Config
from solwatch.model.corpus import Corpus, CorpusRound
from solwatch.model.errors import RequestError
from solwatch.workspace.corpus import read_corpus

FloatArray = NDArray[np.float64]

LABEL = "a/a"
LEAST_ROUNDS = 20
"""Below that, rounds drawn again are the same few over and over."""


@dataclass(frozen=True)
class Process:
    """One process's clean blocks of one cell. ``centres_s``, ``spreads_s``: of each block's ``counts`` samples."""

    centres_s: FloatArray
    spreads_s: FloatArray
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class RecordedRound:
    """One usable round: by cell, head's and base's process and what the gate would take from the pair."""

    pairs: dict[str, tuple[Process, Process]]
    replicates: dict[str, Replicate]


@dataclass(frozen=True)
class Recording:
    """One file. ``compared``: each cell's thresholds, the null kernel's among them; ``wall_s``: of a mean round."""

    name: str
    keys: list[str]
    compared: dict[str, ComparedCell]
    rounds: list[RecordedRound]
    wall_s: float
    opening_s: float


def recordings(paths: Sequence[Path]) -> list[Recording]:
    """Read the A/A files among ``paths``; raises ``RequestError`` when there are none or one has too few rounds."""
    found = [recording(path) for path in paths if read_corpus(path).header.label == LABEL]
    if not found:
        raise RequestError(
            f"0 of {len(paths)} corpus files are labelled {LABEL}, 1 is needed: record one with solwatch record"
        )
    return found


def recording(path: Path) -> Recording:
    """Read one file; raises ``RequestError`` for no corpus, or one with fewer than ``LEAST_ROUNDS`` usable rounds."""
    corpus, record = read_corpus(path), replayed(path)
    # Judged as solwatch is set today, not as it was when the rounds were recorded.
    record = replace(record, header=replace(record.header, config=Config()))
    compared = {case.info.key: case.compared for case in cases(record) if case.finding is None}
    keys = [cell.key for cell in corpus.header.cells if cell.gated and cell.key in compared]
    replicates = {key: {each.ordinal: each for each in cell.replicates} for key, cell in compared.items()}
    rounds = []
    for ordinal, kept in enumerate(corpus.rounds, start=1):
        pairs = _pairs(corpus, kept)
        if all(ordinal in each for each in replicates.values()) and all(key in pairs for key in keys):
            here = {key: each[ordinal] for key, each in replicates.items()}
            rounds.append(RecordedRound({key: pairs[key] for key in keys}, here))
    if len(rounds) < LEAST_ROUNDS or not keys:
        raise RequestError(
            f"{path}: {len(rounds)} rounds have all of {len(keys)} cells on both sides, "
            f"{LEAST_ROUNDS} are needed: record more with solwatch record --rounds"
        )
    opening_s = [each.opening_s for each in corpus.rounds if each.opening_s is not None]
    return Recording(
        name=path.name,
        keys=keys,
        compared=compared,
        rounds=rounds,
        wall_s=float(np.mean([each.wall_s for each in corpus.rounds])),
        opening_s=float(np.mean(opening_s)) if opening_s else 0.0,
    )


def _pairs(corpus: Corpus, kept: CorpusRound) -> dict[str, tuple[Process, Process]]:
    counts = [[int(blocks or 0) for blocks in both] for both in per_side(kept.blocks, len(kept.order))]
    times, spreads, samples = (per_block(each, counts) for each in (kept.time_ns, kept.spread_ns, kept.samples))
    void = {(each.cell, each.side, each.block) for each in kept.voids}
    found = {}
    for cell, position in enumerate(kept.order):
        sides = []
        for side in (0, 1):
            clean = [
                number
                for number in range(counts[cell][side])
                if (cell, side, number) not in void and times[cell][side][number] is not None
            ]
            sides.append(_process(times[cell][side], spreads[cell][side], samples[cell][side], clean))
        if all(len(process.centres_s) for process in sides):
            found[corpus.header.cells[position].key] = (sides[0], sides[1])
    return found


def _process(times_ns: list[Any], spreads_ns: list[Any], counts: list[Any], clean: list[int]) -> Process:
    return Process(
        centres_s=np.array([times_ns[number] * 1e-9 for number in clean], dtype=np.float64),
        spreads_s=np.array([(spreads_ns[number] or 0.0) * 1e-9 for number in clean], dtype=np.float64),
        counts=np.array([int(counts[number] or 1) for number in clean], dtype=np.int64),
    )
