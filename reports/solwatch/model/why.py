"""Why a cell is slower: what each side's call launches, the machine code of it, what a profiler counted."""

import msgspec


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel that a call launches, as the CUDA driver tells it; a field is ``None`` where it doesn't.

    ``kernel``: its mangled name. ``grid``: blocks, ``block``: threads, along x, y, z. ``dynamic_shared_bytes``: a
    block's, asked for by the launch. ``registers``, ``local_bytes``: of a thread. ``blocks_per_sm``: how many blocks
    fit on a multiprocessor at once.
    """

    kernel: str
    grid: list[int]
    block: list[int]
    dynamic_shared_bytes: int
    static_shared_bytes: int | None = None
    registers: int | None = None
    local_bytes: int | None = None
    blocks_per_sm: int | None = None

    @property
    def threads(self) -> int:
        """Threads of one block."""
        return self.block[0] * self.block[1] * self.block[2]


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """What one side's call of a cell runs.

    ``plan``: what the cell's ``explain`` said, name to text; empty where it offers none. ``launches``: the kernels
    of one call in order, ``None`` where the call couldn't be captured and on a CPU.
    """

    plan: dict[str, str] = msgspec.field(default_factory=dict)
    launches: list[Launch] | None = None


class KernelCode(msgspec.Struct, frozen=True, kw_only=True):
    """The machine code of one kernel for one architecture.

    ``title``: its name as people write it. ``digest``: SHA-256 of its instructions and constants. ``registers``,
    ``stack_bytes``: of a thread. ``shared_bytes``: static, of a block. ``instructions``: class to count, ``None``
    without a disassembler. ``local_store_bytes``, ``local_load_bytes``: what its instructions move to and from local
    memory, each counted once. ``indexed``: some of that at computed addresses (arrays, not spilled registers alone).
    """

    title: str
    digest: str
    registers: int
    stack_bytes: int
    shared_bytes: int
    instructions: dict[str, int] | None = None
    local_store_bytes: int | None = None
    local_load_bytes: int | None = None
    indexed: bool = False


class KernelChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Which kernels of the two builds differ, by title; ``same``: how many don't."""

    same: int
    differing: list[str]
    only_head: list[str]
    only_base: list[str]


class KernelNames(msgspec.Struct, frozen=True, kw_only=True):
    """The kernels that a cell's call runs on each side, in order, as named in ``Why.head`` and ``Why.base``."""

    head: list[str]
    base: list[str]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One launch as Nsight Compute counted it.

    ``dram_share``, ``tensor_share``, ``occupancy``: fractions of the peak. ``dram_bytes``: read and written.
    ``stalls``: cycles that a warp waits between two instructions it issues, by reason. ``None``: not told.
    """

    kernel: str
    duration_s: float | None = None
    dram_share: float | None = None
    dram_bytes: float | None = None
    tensor_share: float | None = None
    occupancy: float | None = None
    stalls: dict[str, float] = msgspec.field(default_factory=dict)


class ProfilePair(msgspec.Struct, frozen=True, kw_only=True):
    """The launches of one call on both sides."""

    head: list[Profile]
    base: list[Profile]


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """What was collected after a gate, for the cells that got slower or faster.

    ``capability``: the GPU's, major and minor. ``files``: the files of the builds that differ, by kind. ``kernels``:
    which kernels differ, ``None`` where none could be read. ``head``, ``base``: code by the kernel's mangled name.
    ``calls``: a cell's kernels. ``profiles``: a cell's launches under Nsight Compute. ``notes``: what could not be
    collected, a line each.
    """

    capability: tuple[int, int] | None = None
    files: dict[str, list[str]] = msgspec.field(default_factory=dict)
    kernels: KernelChanges | None = None
    head: dict[str, KernelCode] = msgspec.field(default_factory=dict)
    base: dict[str, KernelCode] = msgspec.field(default_factory=dict)
    calls: dict[str, KernelNames] = msgspec.field(default_factory=dict)
    profiles: dict[str, ProfilePair] = msgspec.field(default_factory=dict)
    notes: list[str] = msgspec.field(default_factory=list)
