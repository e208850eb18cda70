"""What the comparison found, as it is kept: a JSON document whose types give its schema."""

import msgspec

from solwatch.model.cell import Work
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Ceilings

SCHEMA_VERSION = 1
"""Grows when a field goes or changes its meaning; new fields alone don't change it."""


class Screened(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate in the sweep: its time on short notice, ``None`` with the reason where it could not be timed."""

    name: str
    time_s: float | None
    failure: str | None = None


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    """One peer in one cell, or the op: its best candidate.

    ``blocks_s``: seconds a call, cold, the trimmed mean of each round's block; rounds are the same for all contenders
    of a cell, and so are the buffers of a round. ``time_s``: the trimmed mean of the blocks. ``sol_score``: T_SOL / T.
    ``launches``: kernels, copies and fills of one call. ``swept``: all candidates that were tried. ``failure``: why
    there is no time.
    """

    peer: str
    candidate: str | None = None
    time_s: float | None = None
    blocks_s: list[float] = msgspec.field(default_factory=list)
    sol_score: float | None = None
    launches: int | None = None
    timer: str = "held"
    swept: list[Screened] = msgspec.field(default_factory=list)
    failure: str | None = None


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """One cell: its contenders in the order they were asked for; ``null_s``: the kernel that does nothing.

    ``voided``: rounds that were thrown away, each with what the GPU said of it.
    """

    tokens: int
    layer: str
    n: int
    k: int
    work: Work
    t_sol_s: float | None
    null_s: float | None
    sm_clock_hz: float | None
    contenders: list[Contender]
    voided: list[str] = msgspec.field(default_factory=list)

    def of(self, peer: str) -> Contender | None:
        """Return the contender of that name."""
        return next((one for one in self.contenders if one.peer == peer), None)

    def seconds(self, peer: str) -> float | None:
        """Return a contender's time, ``None`` where it has none."""
        found = self.of(peer)
        return found.time_s if found else None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run.

    ``peers``: in the table's order, the op first. ``left_out``: peer to why, and what to install. ``stopped``: why it
    ended before all cells were timed, ``None`` when it did not.
    """

    schema_version: int
    created_at: str
    dtype: str
    rounds: int
    seed: int
    fingerprint: Fingerprint
    ceilings: Ceilings
    versions: dict[str, str]
    peers: list[str]
    left_out: dict[str, str]
    cells: list[CellResult]
    stopped: str | None
