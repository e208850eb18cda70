"""A judgement: all that is concluded from a record, ready to be kept, shown and judged again."""

import msgspec

from solwatch.judge.kernel_pairs import Reasons
from solwatch.judge.series import RoundFacts
from solwatch.judge.thresholds import CellThresholds, Thresholds
from solwatch.model.cell import Work
from solwatch.model.estimate import Estimate
from solwatch.model.record import Failure
from solwatch.model.verdict import DECIDED, CellVerdict, Reason, Verdict
from solwatch.sol.score import Score


class DeviceState(msgspec.Struct, frozen=True, kw_only=True):
    """What the device did while one side of one cell was measured; a field is ``None`` where it doesn't tell.

    Clock: mean of the blocks' means. Temperature and power: the highest seen. ``throttle_reasons``: NVML's bits
    that were set in any reading. ``violation_s``: seconds that each throttle counter moved inside the blocks.
    """

    sm_clock_hz: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    throttle_reasons: int | None = None
    violation_s: dict[str, float] = msgspec.field(default_factory=dict)
    other_processes: list[int] = msgspec.field(default_factory=list)


class SideFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One side of one cell over all its rounds.

    ``time``: geometric mean of the rounds' centres with its interval, in the cell's unit (seconds).
    ``null_s``: time of a kernel that does nothing, measured in turn. ``score``: against the ceilings, ``None``
    without work or ceilings. ``energy_j``, ``hot_s``: per call, from a hot loop. ``number``: calls unrolled in
    one sample. ``samples``: how many clean samples. ``failures``: one line for each round that failed.
    """

    time: Estimate | None = None
    null_s: float | None = None
    score: Score | None = None
    energy_j: float | None = None
    hot_s: float | None = None
    launches: int | None = None
    timers: list[str] = msgspec.field(default_factory=list)
    fallback: str | None = None
    number: int | None = None
    samples: int = 0
    state: DeviceState = msgspec.field(default_factory=DeviceState)
    caches: list[str] = msgspec.field(default_factory=list)
    failures: list[Failure] = msgspec.field(default_factory=list)


class CellFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one cell beside its verdict. ``base`` is ``None`` in a run of head alone.

    ``suspected_at``: the look that sent the cell to fresh rounds, whatever came of them.
    """

    key: str
    unit: str
    work: Work | None
    head: SideFacts
    base: SideFacts | None
    rounds: list[RoundFacts]
    thresholds: CellThresholds
    decided_at: int | None = None
    suspected_at: int | None = None


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """How much of what is gated was decided. ``unmeasured``: how many of those without a time."""

    gated: int
    decided: int
    new: int
    undecided: int
    void: int
    unmeasured: int = 0

    @classmethod
    def of(cls, verdicts: list[CellVerdict]) -> "Coverage":
        """Count the gated cells of ``verdicts``."""
        kinds = [cell.verdict for cell in verdicts if cell.gated]
        return cls(
            gated=len(kinds),
            decided=sum(kind in DECIDED for kind in kinds),
            new=kinds.count(Verdict.NEW),
            undecided=kinds.count(Verdict.UNDECIDED),
            void=kinds.count(Verdict.VOID),
            unmeasured=sum(cell.gated and cell.reason is Reason.IDENTICAL for cell in verdicts),
        )

    @property
    def text(self) -> str:
        """``22 of 24 decided, 1 new``: nothing that was left open is left unsaid."""
        return f"{self.decided} of {self.gated} decided" + (f", {self.new} new" if self.new else "")


class LookDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts that fell after ``completed`` rounds, key to verdict."""

    completed: int
    verdicts: dict[str, Verdict]


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """Verdicts on all cells, what they rest on, and the exit code that follows.

    ``verdicts`` and ``facts`` are in the order in which the record lists the cells. ``suspects``: cells that
    fresh rounds have to confirm. ``final``: cells that need no more rounds. ``reasons``: why cells are slower or
    faster, where something is known of it.
    """

    verdicts: list[CellVerdict]
    facts: dict[str, CellFacts]
    coverage: Coverage
    exit_code: int
    thresholds: Thresholds
    looks: list[LookDecision]
    suspects: list[str]
    final: list[str]
    completed: int
    reasons: dict[str, Reasons] = msgspec.field(default_factory=dict)
