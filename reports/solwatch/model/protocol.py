"""What the application and a worker process say to each other: tagged messages, one reply for each request."""

import msgspec

from solwatch.model.cell import CellInfo, Work
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Block, Ceilings, Failure
from solwatch.model.why import Called


class Discover(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Import the suite in ``benchmarks_dir`` and get ready to open ``device`` as far as that leaves it alone."""

    benchmarks_dir: str
    device: str


class Open(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Discover the suite in ``benchmarks_dir`` unless that is done, and open ``device`` (``cpu``, ``cuda:0``)."""

    benchmarks_dir: str
    device: str
    seed: int


class Describe(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Ask what work these cells do, without making their inputs."""

    keys: list[str]


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at one call found; a later process of the same side need not look again.

    ``timer``: what times it. ``fallback``: why that is another one than the asked one. ``launches``: kernels,
    copies and fills of one call, ``None`` when not known. ``obstacle``: why a closed gate can't hold the call,
    ``None`` when it can.
    """

    timer: str
    fallback: str | None = None
    launches: int | None = None
    obstacle: str | None = None


class Prepare(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Make a cell's inputs, check it against its reference when ``check``, warm it up.

    ``findings``: what the side's first process found, ``None`` for that one.
    """

    key: str
    seed: int
    check: bool
    findings: Findings | None = None


class WatchReads(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Note from now on which files below ``folder`` are opened; asked before the suite is."""

    folder: str


class Look(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Run a cell without timing it, to see what it reads, compiles and tunes; ``check``: against its reference."""

    key: str
    seed: int
    check: bool


class Measure(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Take one block of at most ``target_s`` seconds of calls from the prepared cell."""

    target_s: float


class MeasureEnergy(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Run the prepared cell hot for at least ``loop_s`` seconds; on a GPU read the energy counter around it."""

    loop_s: float


class MeasureCeilings(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Measure the device's sustained ceilings for these dtypes."""

    dtypes: list[str]


class Release(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Forget the prepared cell and its memory."""


class Discovered(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``Discover``. ``modules_missed``: those that the suite looked for and that aren't there."""

    cells: list[CellInfo]
    import_failures: dict[str, str]
    modules_missed: list[str]


class Opened(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``Open``. ``import_failures``: benchmark modules that don't import, name to message."""

    cells: list[CellInfo]
    fingerprint: Fingerprint
    import_failures: dict[str, str] = msgspec.field(default_factory=dict)


class Described(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``Describe``: work by key; a cell that can't be described is left out, it fails when prepared."""

    work: dict[str, Work]


class Prepared(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``Prepare``. ``call_s``: a first guess of a call's time.

    ``called``: what a call runs, where the request came without findings.
    """

    work: Work | None
    findings: Findings
    call_s: float = 0.0
    caches: str | None = None
    called: Called | None = None


class Watching(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``WatchReads``."""


class Looked(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``Look``.

    ``caches``: digest of all that the JIT and autotune caches hold now, ``None`` for nothing. ``read``: the files
    that were opened so far, relative to the watched folder.
    """

    caches: str | None
    read: list[str]


class Measured(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``Measure``."""

    block: Block


class EnergyMeasured(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``MeasureEnergy``: seconds and joules per call (joules ``None`` without a counter)."""

    hot_s: float
    energy_j: float | None


class CeilingsMeasured(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``MeasureCeilings``."""

    ceilings: Ceilings


class Released(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to ``Release``. ``threads_left``: how many that the cell started still run, in Python's count."""

    threads_left: int = 0


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reply to any request that could not be done; the worker lives on."""

    failure: Failure


Request = Discover | Open | Describe | WatchReads | Look | Prepare | Measure | MeasureEnergy | MeasureCeilings | Release
Reply = (
    Discovered
    | Opened
    | Described
    | Watching
    | Looked
    | Prepared
    | Measured
    | EnergyMeasured
    | CeilingsMeasured
    | Released
    | Failed
)
