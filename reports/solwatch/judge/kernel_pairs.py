"""The kernels of one cell's call, base beside head: code, launch and occupancy of each."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

import msgspec

from solwatch.judge.occupancy import Occupancy, occupancy
from solwatch.model.why import Called, KernelCode, Launch, ProfilePair, Why


class KernelSide(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel on one side; what isn't known of it is ``None``.

    ``threads``, ``shared_bytes``: of a block, static and dynamic shared memory together. ``blocks_per_sm``,
    ``occupancy`` (a fraction of the warps that a multiprocessor holds) and what limits it: theoretical.
    """

    title: str
    code: KernelCode | None = None
    launch: Launch | None = None
    registers: int | None = None
    shared_bytes: int | None = None
    threads: int | None = None
    blocks_per_sm: int | None = None
    occupancy: float | None = None
    limited_by: str | None = None


class KernelPair(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel of head and the one of base that stands in its place; ``None`` where one side has none."""

    head: KernelSide | None
    base: KernelSide | None

    @property
    def same_code(self) -> bool | None:
        """Whether the machine code is the same, ``None`` where it isn't known of both."""
        codes = [side.code.digest if side and side.code else None for side in (self.head, self.base)]
        return None if None in codes else codes[0] == codes[1]


class Reasons(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of one cell. ``sentences``: conclusions. The rest is what they rest on, head beside base."""

    sentences: list[str]
    head_plan: dict[str, str]
    base_plan: dict[str, str]
    kernels: list[KernelPair]
    profiles: ProfilePair | None = None


def kernel_pairs(key: str, head: Called, base: Called, why: Why | None) -> list[KernelPair]:
    """Return the kernels of a cell in the order of their launches, each once; equal names are paired first."""
    names = why.calls.get(key) if why else None
    capability = why.capability if why else None
    ours = _sides(names.head if names else [], head, why.head if why else {}, capability)
    theirs = _sides(names.base if names else [], base, why.base if why else {}, capability)
    pairs = [KernelPair(head=ours[name], base=theirs[name]) for name in ours if name in theirs]
    rest = zip_longest(
        [side for name, side in ours.items() if name not in theirs],
        [side for name, side in theirs.items() if name not in ours],
    )
    return pairs + [KernelPair(head=one, base=other) for one, other in rest]


def _sides(
    names: Sequence[str], called: Called, codes: Mapping[str, KernelCode], capability: tuple[int, int] | None
) -> dict[str, KernelSide]:
    """Return name to kernel, in order; ``names`` stand beside the launches, or name the kernel of the plan."""
    launches: Sequence[Launch | None] = called.launches if called.launches is not None else [None] * len(names)
    found: dict[str, KernelSide] = {}
    for name, launch in zip(names, launches, strict=False):
        found.setdefault(name, _side(name, codes.get(name), launch, called.plan, capability))
    return found


def _side(
    name: str,
    code: KernelCode | None,
    launch: Launch | None,
    plan: Mapping[str, str],
    capability: tuple[int, int] | None,
) -> KernelSide:
    registers = launch.registers if launch and launch.registers is not None else code.registers if code else None
    threads = launch.threads if launch else int(plan["threads"]) if plan.get("threads", "").isdecimal() else None
    shared = None
    if launch is not None:
        static = code.shared_bytes if code else launch.static_shared_bytes
        shared = None if static is None else static + launch.dynamic_shared_bytes
    fits: Occupancy | None = None
    if capability and launch and threads and registers is not None and shared is not None:
        fits = occupancy(
            capability, threads=threads, registers=registers, shared_bytes=shared, blocks=launch.blocks_per_sm
        )
    return KernelSide(
        title=code.title if code else name,
        code=code,
        launch=launch,
        registers=registers,
        shared_bytes=shared if launch else code.shared_bytes if code else None,
        threads=threads,
        blocks_per_sm=fits.blocks if fits else None,
        occupancy=fits.share if fits else None,
        limited_by=fits.limit if fits else None,
    )
