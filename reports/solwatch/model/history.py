"""What the history holds beside asv's results: noise and limits of each card, and the change points reported."""

from typing import Annotated

import msgspec

Id = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{12}$")]
"""Of a change point; it stands in issues as it is, and the file that it is read from can be anybody's."""


Spread = Annotated[float, msgspec.Meta(ge=0, le=1000)]
NullTime = Annotated[float, msgspec.Meta(ge=0, le=1000)]


class NoiseRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one gate of a commit against itself showed of one cell on one card.

    ``taken_at``: when the gate began, UTC
    ``machine``: asv's name of the machine
    ``card``: UUID of the GPU; the model where there is none (a CPU) or the driver hides it
    ``model``: the device's model
    ``cell``: the cell's key
    ``rounds``: rounds that count
    ``spread``: standard deviation between rounds of log(head / base); 0.003 is 0.3 %
    ``null_s``: seconds of a kernel that does nothing, both sides together, `null` where none was timed
    """

    taken_at: str
    machine: str
    card: str
    model: str
    cell: str
    rounds: int
    spread: Spread
    null_s: NullTime | None = None


Figure = Annotated[float, msgspec.Meta(gt=0, le=1e30)]


class LimitRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one call of a cell must do, and how fast the machine could do it: what scores and rooflines rest on.

    ``taken_at``: when it was measured with these, UTC
    ``machine``: asv's name of the machine
    ``model``: the device's model
    ``benchmark``: asv's name of the cell's benchmark, without the method
    ``params``: names of the parameters' values
    ``flops``: floating-point operations of one call
    ``traffic_bytes``: each input read once, each output written once
    ``dtype``: the inputs' type, which picks the throughput
    ``kind``: `rated` or `measured`: where the two peaks are from
    ``peak_flops``: FLOP/s
    ``peak_bandwidth``: bytes/s
    ``sustained_flops``: FLOP/s that a large GEMM reached there, `null` where none was measured
    ``sustained_bandwidth``: bytes/s that a copy reached there
    """

    taken_at: str
    machine: str
    model: str
    benchmark: str
    params: list[str]
    flops: Figure
    traffic_bytes: Figure
    dtype: str
    kind: str
    peak_flops: Figure
    peak_bandwidth: Figure
    sustained_flops: Figure | None = None
    sustained_bandwidth: Figure | None = None


class GateRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the gate whose page is kept; ``page``: the file's name, ``verdict``: one line, ``state``: one word.

    ``base``, ``head``: commits, ``base`` is ``None`` for a run of head alone. ``machine``: as the record names it.
    """

    page: str
    created_at: str
    machine: str
    model: str
    base: str | None
    head: str
    state: str
    verdict: str


class CellStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step in the history of one cell; values in the benchmark's ``unit``, lower is better.

    ``benchmark``: asv's name. ``cell``: the key by which ``solwatch`` commands know it. ``environment``: asv's name of
    it. ``good``, ``bad``: last commit that has a result before the step, and first one after it. ``before``, ``after``:
    asv's level on either side. ``latest``: the level at the end of the history. ``results``: on either side.
    """

    benchmark: str
    cell: str
    environment: str
    unit: str
    good: str
    bad: str
    before: float
    after: float
    latest: float
    results: tuple[int, int]

    @property
    def slowdown_ratio(self) -> float:
        """After / before; above 1 is slower."""
        return self.after / self.before


class ChangePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the history of one machine at which cells became slower, or at which they became faster.

    ``id``: stays the same when later results narrow or shift the place
    ``machine``: asv's name of the machine
    ``direction``: `slower` or `faster`
    ``good``: newest commit with a result before the change
    ``bad``: oldest commit with a result that has it
    ``cells``: cells that show it, the largest change first
    ``persists``: whether one of them is still at its new level at the end of the history
    """

    id: str
    machine: str
    direction: str
    good: str
    bad: str
    cells: list[CellStep]
    persists: bool


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """A change point that was reported, as it was then.

    ``id``: of the change point
    ``machine``: asv's name of the machine
    ``direction``: `slower` or `faster`
    ``good``: newest commit before the change
    ``bad``: oldest commit that has it
    ``cells``: keys of the cells that showed it
    ``reported_at``: when, UTC
    """

    id: Id
    machine: str
    direction: str
    good: str
    bad: str
    cells: list[str]
    reported_at: str
