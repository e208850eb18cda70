"""What is measured and kept: blocks, rounds, and the record file that holds them.

A record file is JSON lines: one ``RecordHeader``, then a ``Round`` for each completed round, then at most one
``RecordEnd``, then at most one ``{"why": Why}``. A killed run leaves a readable file; a torn last line is dropped by
the reader.
"""

import msgspec

from solwatch.model.acceptance import Acceptance
from solwatch.model.cell import CellInfo, Work
from solwatch.model.config import Config
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.identity import Identity
from solwatch.model.reference import Reference
from solwatch.model.why import Called, Why

CLOCK_FAULTS = {
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}
"""NVML's clock event bits that say that something is wrong with a machine."""

THROTTLE_REASONS = {0x4: "power cap", 0x10: "sync boost"} | CLOCK_FAULTS
"""Those that mean something for a measurement; idle and application clocks are left out."""


class Telemetry(msgspec.Struct, frozen=True, kw_only=True):
    """The device's state at one instant; a field is ``None`` where the device doesn't tell.

    ``throttle_reasons`` is NVML's bit mask at that instant; ``violation_s`` maps a reason to its counter, in
    seconds since boot. ``other_processes`` are ids of processes on the device, the reading one left out.
    ``unnamed_processes``: how many there are, the reading one included, where their ids mean nothing here (a
    container with ids of its own).
    """

    sm_clock_hz: float | None = None
    memory_clock_hz: float | None = None
    power_w: float | None = None
    energy_j: float | None = None
    temperature_c: float | None = None
    throttle_reasons: int | None = None
    violation_s: dict[str, float] = msgspec.field(default_factory=dict)
    ecc_errors: int | None = None
    utilization: float | None = None
    other_processes: list[int] = msgspec.field(default_factory=list)
    unnamed_processes: int | None = None


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of one worker at one cell.

    ``samples_s``: seconds per call, cold. ``null_s``: seconds of a kernel that does nothing, measured in turn
    with the calls. ``number``: calls unrolled in one sample. ``fallback``: why another timer than the asked one
    was used. ``launches``: kernels launched by one call, ``None`` when not known. ``sm_clock_hz``: the mean SM
    clock over the block, from cycle counters where the device has them. ``voids``: why the block can't be
    trusted; empty when it can.
    """

    samples_s: list[float]
    null_s: list[float]
    number: int
    timer: str
    fallback: str | None = None
    launches: int | None = None
    sm_clock_hz: float | None = None
    before: Telemetry | None = None
    after: Telemetry | None = None
    voids: list[str] = msgspec.field(default_factory=list)


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a side has no times for a cell.

    ``kind``: ``wrong`` (failed its check), ``raised``, ``out_of_memory``, ``hung``, ``died``, ``missing``
    (the suite or the op does not have it), ``skipped`` (NotImplementedError in setup).
    """

    kind: str
    message: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One side of one cell in one round: its blocks, or the failure that took their place.

    ``energy_j``: joules per call from a hot loop of at least 0.5 s, ``None`` when not taken.
    ``hot_s``: seconds per call back to back, caches warm, same loop. ``caches``: digest of the JIT and
    autotune caches after warm-up. ``called``: what a call runs, in the round whose process looked.
    """

    blocks: list[Block] = msgspec.field(default_factory=list)
    failure: Failure | None = None
    energy_j: float | None = None
    hot_s: float | None = None
    caches: str | None = None
    called: Called | None = None


class CellRound(msgspec.Struct, frozen=True, kw_only=True):
    """One cell in one round. ``base`` is ``None`` in a run of head alone."""

    key: str
    head: Side
    base: Side | None = None


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """One pair of fresh processes.

    ``head_slot``: which slot (0 or 1) the coin gave to head; a slot is a start position, a set of cores and a
    folder of caches. ``opening_s``: wall time from asking for the pair until both processes could measure; on a GPU
    they have been forked, and have imported the suite, while the round before was measured. ``cells``: in the order
    in which they were measured, drawn anew for each round. ``gpu``: index of the GPU that all of it ran on (``cuda:1``
    is 1), ``None`` on a CPU; rounds on several GPUs run at once.
    """

    index: int
    head_slot: int
    started_at: str
    wall_s: float
    opening_s: float | None = None
    cells: list[CellRound]
    gpu: int | None = None


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit as measured. ``dirty``: the working tree, not the commit itself. ``build``: wheel-cache key."""

    sha: str
    name: str
    subject: str
    committed_at: str
    dirty: bool = False
    build: str | None = None


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """An existing virtual environment that a side was measured in.

    ``path``: its folder. ``python``: its version. ``packages``: versions of the packages in which it differs from
    the other side's (torch and Triton where there is no other side). ``own``: modules of the commit's build that
    the environment has a copy of its own of, which was measured in the build's place.
    """

    path: str
    python: str
    packages: dict[str, str] = msgspec.field(default_factory=dict)
    own: list[str] = msgspec.field(default_factory=list)


class GpuIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU: its ``index`` as CUDA counted it for this run, its ``uuid`` (``None`` where the driver hid it)."""

    index: int
    uuid: str | None


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one device.

    ``rated_flops`` and ``sustained_flops``: FLOP/s by dtype name. ``rated_bandwidth`` and
    ``sustained_bandwidth``: bytes/s. Rated ones are ``None``/absent on a CPU, where only measured ceilings
    exist. ``rated_clock_hz``: the SM clock that the rated throughput assumes. ``source``: where they come
    from, in words. ``verified``: whether the rated figures were checked on such a card.
    """

    rated_flops: dict[str, float] = msgspec.field(default_factory=dict)
    rated_bandwidth: float | None = None
    rated_clock_hz: float | None = None
    sustained_flops: dict[str, float] = msgspec.field(default_factory=dict)
    sustained_bandwidth: float | None = None
    source: str = ""
    verified: bool = False


class RecordHeader(msgspec.Struct, frozen=True, kw_only=True):
    """First line of a record: what was asked, on what, under which rule.

    ``fingerprint``: head's, and base's too unless ``base_fingerprint`` is there: it is where the sides are two
    environments. ``head_env``, ``base_env``: those environments, ``None`` where sides are commits. ``gpus``: the GPUs
    that the rounds are spread over, alike in all but their UUID; none on a CPU. ``identity``: what the sides were
    compared in before measuring, ``None`` where everything was to be measured. ``accepted``: the slowdowns that head
    has accepted and base has not. ``reference``: why base was chosen, ``None`` where it was asked for by name.
    """

    schema: int
    solwatch: str
    command: str
    created_at: str
    machine: str
    seed: int
    head: Commit
    base: Commit | None
    config: Config
    fingerprint: Fingerprint
    ceilings: Ceilings
    cells: list[CellInfo]
    work: dict[str, Work]
    notes: list[str] = msgspec.field(default_factory=list)
    base_fingerprint: Fingerprint | None = None
    head_env: Environment | None = None
    base_env: Environment | None = None
    gpus: list[GpuIdentity] = msgspec.field(default_factory=list)
    identity: Identity | None = None
    accepted: list[Acceptance] = msgspec.field(default_factory=list)
    reference: Reference | None = None


def record_stem(header: RecordHeader) -> str:
    """Return the name of a record's file without its ending: time, then base and head."""
    stamp = header.created_at[:19].replace(":", "").replace("-", "")
    sides = [one.sha[:8] + ("-dirty" if one.dirty else "") for one in (header.base, header.head) if one]
    return f"{stamp}-{'-'.join(sides)}"


class RecordEnd(msgspec.Struct, frozen=True, kw_only=True):
    """Last line: why measuring stopped (``decided``, ``rounds``, ``budget``, ``interrupted``, ``error``)."""

    stopped: str
    wall_s: float


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A whole record in memory. ``why``: what was collected of the cells that got slower or faster."""

    header: RecordHeader
    rounds: list[Round]
    end: RecordEnd | None
    why: Why | None = None
