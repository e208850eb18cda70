"""Runs of a gate, drawn from recorded rounds: each is what a user would have had before them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from judges.recording import FloatArray, Process, RecordedRound, Recording
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.judge.rule import ComparedCell, Replicate

CELLS = 24
HISTORY = 30
"""Earlier commits of which a rule may know one process each."""


@dataclass(frozen=True)
class Cell:
    """One cell of a run.

    ``heads``, ``bases``: the centres of a process's blocks, in seconds, by round; ``head_samples_s``,
    ``base_samples_s``: drawn around those of the first; ``history_s``: a mean for each earlier commit, in order.
    """

    key: str
    heads: list[FloatArray]
    bases: list[FloatArray]
    head_samples_s: FloatArray
    base_samples_s: FloatArray
    history_s: FloatArray
    compared: ComparedCell


@dataclass(frozen=True)
class Run:
    """One run. ``null``: the null kernel as solwatch compares it, never planted; ``None`` where none was recorded."""

    recording: Recording
    cells: list[Cell]
    null: ComparedCell | None


def drawn(recording: Recording, dice: np.random.Generator, rounds: int, cells: int = CELLS) -> Run:
    """Return a run of ``cells`` cells over ``rounds`` rounds.

    Whole rounds are drawn, with replacement, and for each a new coin. A recording of fewer cells is taken as often as
    needed, each time with rounds and coins of its own.
    """
    found: list[Cell] = []
    null = None
    while len(found) < cells:
        copy = len(found) // len(recording.keys)
        picked = [recording.rounds[at] for at in dice.integers(len(recording.rounds), size=rounds)]
        earlier = [recording.rounds[at] for at in dice.integers(len(recording.rounds), size=HISTORY)]
        swaps = [bool(swap) for swap in dice.integers(2, size=rounds)]
        if null is None and NULL_KERNEL in recording.compared:
            null = _compared(recording, NULL_KERNEL, NULL_KERNEL, picked, swaps)
        for key in recording.keys[: cells - len(found)]:
            name = key if copy == 0 else f"{key} ({copy + 1})"
            found.append(_cell(recording, key, name, picked, swaps, earlier, dice))
    return Run(recording, found, null)


def planted(run: Run, size: float) -> Run:
    """Return the run as if every cell's head took 1 + ``size`` times as long."""
    return replace(run, cells=[_slower(cell, size) for cell in run.cells])


def sampled(process: Process, dice: np.random.Generator) -> FloatArray:
    """Return samples of ``process``: bell curves of each block's spread whose mean is exactly the block's centre."""
    blocks = []
    for centre_s, spread_s, count in zip(process.centres_s, process.spreads_s, process.counts, strict=True):
        noise = dice.normal(0.0, spread_s, count)
        blocks.append(centre_s + noise - noise.mean())
    return np.concatenate(blocks)


def _cell(
    recording: Recording,
    key: str,
    name: str,
    picked: Sequence[RecordedRound],
    swaps: Sequence[bool],
    earlier: Sequence[RecordedRound],
    dice: np.random.Generator,
) -> Cell:
    pairs = [
        pair[::-1] if swap else pair for pair, swap in zip([each.pairs[key] for each in picked], swaps, strict=True)
    ]
    return Cell(
        key=name,
        heads=[head.centres_s for head, _ in pairs],
        bases=[base.centres_s for _, base in pairs],
        head_samples_s=sampled(pairs[0][0], dice),
        base_samples_s=sampled(pairs[0][1], dice),
        history_s=np.array([each.pairs[key][1].centres_s.mean() for each in earlier]),
        compared=_compared(recording, key, name, picked, swaps),
    )


def _compared(
    recording: Recording, key: str, name: str, picked: Sequence[RecordedRound], swaps: Sequence[bool]
) -> ComparedCell:
    replicates = []
    for ordinal, (round_, swap) in enumerate(zip(picked, swaps, strict=True), start=1):
        was = round_.replicates[key]
        slot, log_ratio = (1 - was.head_slot, -was.log_ratio) if swap else (was.head_slot, was.log_ratio)
        replicates.append(Replicate(ordinal, slot, log_ratio))
    return msgspec.structs.replace(recording.compared[key], key=name, replicates=replicates)


def _slower(cell: Cell, size: float) -> Cell:
    shift, factor = float(np.log1p(size)), 1.0 + size
    replicates = [each._replace(log_ratio=each.log_ratio + shift) for each in cell.compared.replicates]
    return replace(
        cell,
        heads=[centres_s * factor for centres_s in cell.heads],
        head_samples_s=cell.head_samples_s * factor,
        compared=msgspec.structs.replace(cell.compared, replicates=replicates),
    )
