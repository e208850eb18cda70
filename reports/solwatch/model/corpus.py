"""A corpus of recorded rounds: what real noise looks like, for rules of judgement to be tried on.

A corpus file is JSON lines: one ``CorpusHeader``, then a ``CorpusRound`` for each completed round. It grows by
running the same command again.
"""

import msgspec

from solwatch.model.cell import CellInfo, Work
from solwatch.model.columns import NumberPerBlock, NumberPerSide, TextPerBlock, TextPerSide
from solwatch.model.config import Config
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Ceilings, Commit, Environment


class CorpusHeader(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """First line: what was measured, on what, and how. Optional fields are left out where they say nothing.

    ``corpus``: number of this format; a reader refuses any other
    ``solwatch``: version of solwatch
    ``command``: the command that began the file
    ``created_at``: UTC, ISO 8601
    ``machine``: name of the machine
    ``label``: what the pair is, in the words of whoever recorded it: `a/a`, `planted 1 %`, `neutral: renamed symbol`
    ``occasion``: which stretch of measuring the file belongs to, in such words
    ``seed``: seed of data, placements, coins and orders; with a round's index it gives all that is random in it
    ``head``: head's commit and the key of its build
    ``base``: base's
    ``turns``: blocks of each side of a cell in its first round; on a GPU its scatter says how many are taken then
    ``block_s``: wanted length of a block, seconds
    ``fingerprint``: device and software; head's alone where `base_fingerprint` is there
    ``ceilings``: limits of the device
    ``cells``: the cells, in the order that `order` of a round counts in
    ``work``: what one call of a cell must do, by key
    ``config``: all settings, so that a file can be judged as it would have been
    ``notes``: modules of the suite that don't import
    ``base_fingerprint``: base's, where the sides are two environments
    ``head_env``: the environment that head was measured in, where the sides are environments
    ``base_env``: base's
    """

    corpus: int
    solwatch: str
    command: str
    created_at: str
    machine: str
    label: str
    occasion: str
    seed: int
    head: Commit
    base: Commit
    turns: int
    block_s: float
    fingerprint: Fingerprint
    ceilings: Ceilings
    cells: list[CellInfo]
    work: dict[str, Work]
    config: Config
    notes: list[str] = msgspec.field(default_factory=list)
    base_fingerprint: Fingerprint | None = None
    head_env: Environment | None = None
    base_env: Environment | None = None

    def differences(self, other: "CorpusHeader") -> list[str]:
        """Return what keeps rounds of ``other`` out of this file, ``field: this != that``, a line for each."""
        mine, theirs = _must_be_equal(self), _must_be_equal(other)
        lines = [f"{name}: {mine[name]} != {theirs[name]}" for name in mine if mine[name] != theirs[name]]
        lines += _cell_differences(self.cells, other.cells)
        lines += self.fingerprint.differences(other.fingerprint)
        if self.base_fingerprint and other.base_fingerprint:
            lines += [f"base's {line}" for line in self.base_fingerprint.differences(other.base_fingerprint)]
        return lines


class Void(msgspec.Struct, frozen=True, array_like=True):
    """Why a block can't be trusted: ``[cell, side, block, reasons]``, counted from 0 as the columns are."""

    cell: int
    side: int
    block: int
    reasons: list[str]


class SideFailure(msgspec.Struct, frozen=True, array_like=True):
    """Why a side has no blocks: ``[cell, side, kind, message]``, counted from 0 as the columns are."""

    cell: int
    side: int
    kind: str
    message: str


class CorpusRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One pair of fresh processes, as columns. Fields are left out where all of them are null or empty.

    ``index``: number of the round, from 0; coins, orders and data follow from it and the seed
    ``head_slot``: which slot (0 or 1) the coin gave to head
    ``started_at``: UTC, ISO 8601
    ``wall_s``: how long the round took, seconds
    ``opening_s``: from asking for the pair of processes until both could measure, seconds
    ``order``: positions in the header's `cells`, in the order measured; the cells of all columns
    ``blocks``: [cell][side] number of blocks; a failed side has 0
    ``time_ns``: [cell][side][block] trimmed mean of a block's samples for one call (the value itself if no time)
    ``spread_ns``: [cell][side][block] half of the distance between the samples' 16th and 84th percentiles
    ``samples``: [cell][side][block] number of samples
    ``unrolled``: [cell][side][block] calls in one sample
    ``null_ns``: [cell][side][block] trimmed mean of the kernel that does nothing, measured in turn with the calls
    ``timer``: [cell][side][block] what timed it
    ``fallback``: [cell][side][block] why that was another timer than the cell's own
    ``launches``: [cell][side][block] kernels launched by one call
    ``sm_clock_mhz``: [cell][side][block] mean SM clock, from cycle counters where the device has them
    ``throttle_reasons``: [cell][side][block] NVML's bits, before and after together
    ``power_w``: [cell][side] mean of the readings around its blocks: NVML's is over a second, longer than a block
    ``temperature_c``: [cell][side] mean of the same readings
    ``caches``: [cell][side] digest of the JIT and autotune caches after warm-up
    ``voids``: [cell, side, block, reasons] of each block that can't be trusted
    ``failures``: [cell, side, kind, message] of each side that failed
    """

    index: int
    head_slot: int
    started_at: str
    wall_s: float
    opening_s: float | None = None
    order: list[int]
    blocks: NumberPerSide
    time_ns: NumberPerBlock = None
    spread_ns: NumberPerBlock = None
    samples: NumberPerBlock = None
    unrolled: NumberPerBlock = None
    null_ns: NumberPerBlock = None
    timer: TextPerBlock = None
    fallback: TextPerBlock = None
    launches: NumberPerBlock = None
    sm_clock_mhz: NumberPerBlock = None
    throttle_reasons: NumberPerBlock = None
    power_w: NumberPerSide = None
    temperature_c: NumberPerSide = None
    caches: TextPerSide = None
    voids: list[Void] = msgspec.field(default_factory=list)
    failures: list[SideFailure] = msgspec.field(default_factory=list)


class Corpus(msgspec.Struct, frozen=True, kw_only=True):
    """A whole corpus file in memory."""

    header: CorpusHeader
    rounds: list[CorpusRound]


def _must_be_equal(header: CorpusHeader) -> dict[str, object]:
    return {
        "label": repr(header.label),
        "occasion": repr(header.occasion),
        "solwatch": header.solwatch,
        "seed": header.seed,
        "head's build": header.head.build or header.head.sha,
        "base's build": header.base.build or header.base.sha,
        "head's environment": header.head_env and header.head_env.path,
        "base's environment": header.base_env and header.base_env.path,
        "turns": header.turns,
        "block_s": header.block_s,
        # Another card of the same model may be compared in one report; one file of raw noise is about one card.
        "uuid": header.fingerprint.uuid,
    }


def _cell_differences(mine: list[CellInfo], theirs: list[CellInfo]) -> list[str]:
    versions, others = ({cell.key: cell.version for cell in cells} for cells in (mine, theirs))
    if versions == others:
        return [] if [cell.key for cell in mine] == [cell.key for cell in theirs] else ["the order of the cells"]
    gone, new = sorted(versions.keys() - others), sorted(others.keys() - versions)
    changed = [key for key in versions if key in others and versions[key] != others[key]]
    said = [
        f"{word} {', '.join(keys)}" for word, keys in (("without", gone), ("new", new), ("changed", changed)) if keys
    ]
    return [f"cells: {'; '.join(said)}"]
