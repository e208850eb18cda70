"""Theoretical occupancy: how many blocks of a kernel fit on a multiprocessor at once, and what limits them.

The same arithmetic as cuda_occupancy.h of the CUDA toolkit, which a test compares it with.
"""

from typing import NamedTuple

WARP = 32
SUB_PARTITIONS = 4
REGISTERS_PER_SM = 1 << 16
REGISTER_UNIT = 256
"""Registers are given to a warp in this unit."""

SHARED_UNIT_BYTES = 128
RESERVED_SHARED_BYTES = 1024
"""What the system takes of every resident block's shared memory, from compute capability 8.0 on."""


class SmLimits(NamedTuple):
    """What a multiprocessor holds at most: warps, blocks, bytes of shared memory."""

    warps: int
    blocks: int
    shared_bytes: int


SM_LIMITS = {
    (8, 0): SmLimits(64, 32, 164 << 10),
    (8, 6): SmLimits(48, 16, 100 << 10),
    (8, 7): SmLimits(48, 16, 164 << 10),
    (8, 9): SmLimits(48, 24, 100 << 10),
    (9, 0): SmLimits(64, 32, 228 << 10),
    (10, 0): SmLimits(64, 32, 228 << 10),
    (10, 3): SmLimits(64, 32, 228 << 10),
    (12, 0): SmLimits(48, 24, 100 << 10),
}
"""By compute capability; of others nothing is said."""


class Occupancy(NamedTuple):
    """``blocks`` resident on a multiprocessor, the ``share`` of its warps that they fill, and what allows no more."""

    blocks: int
    share: float
    limit: str


def occupancy(
    capability: tuple[int, int], *, threads: int, registers: int, shared_bytes: int, blocks: int | None = None
) -> Occupancy | None:
    """Return the occupancy of blocks of ``threads`` threads, ``registers`` each, and ``shared_bytes`` of shared memory.

    ``blocks``: how many fit, where the driver has told. ``limit`` is ``warps``, ``blocks``, ``registers`` or ``shared
    memory``. ``None`` for a capability that isn't known and for a block that doesn't fit at all.
    """
    sm = SM_LIMITS.get(capability)
    if sm is None or threads < 1:
        return None
    warps = -(-threads // WARP)
    fitting = {
        "warps": sm.warps // warps,
        "blocks": sm.blocks,
        "registers": _by_registers(warps, registers),
        "shared memory": sm.shared_bytes // _rounded_up(shared_bytes + RESERVED_SHARED_BYTES, SHARED_UNIT_BYTES),
    }
    limit = min(fitting, key=lambda name: fitting[name])
    resident = fitting[limit] if blocks is None else blocks
    return Occupancy(resident, resident * warps / sm.warps, limit) if resident > 0 else None


def _by_registers(warps: int, registers: int) -> int:
    of_a_warp = _rounded_up(registers * WARP, REGISTER_UNIT)
    if of_a_warp == 0:
        return REGISTERS_PER_SM
    if of_a_warp * _rounded_up(warps, SUB_PARTITIONS) > REGISTERS_PER_SM:
        return 0
    return REGISTERS_PER_SM // SUB_PARTITIONS // of_a_warp * SUB_PARTITIONS // warps


def _rounded_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
