"""What the device did over the run: one moment for each round and side."""

from dataclasses import dataclass

from solwatch.judge.side import device_state
from solwatch.model.record import Block, Record, Side
from solwatch.render.details import throttle_names


@dataclass(frozen=True)
class Moment:
    """One side in one round; a figure is ``None`` where the device doesn't tell.

    ``clock_hz``: mean of the blocks' means. ``power_w``, ``temperature_c``: the highest reading. ``throttled``: what
    held the clocks back, in words. ``void``: blocks that can't be trusted.
    """

    ordinal: int
    gpu: int | None
    side: str
    clock_hz: float | None
    power_w: float | None
    temperature_c: float | None
    throttled: str
    void: int


def run_course(record: Record) -> list[Moment]:
    """Return the moments in order, head before base; none on a CPU, whose clock is of no single side."""
    if not record.header.fingerprint.device.startswith("cuda"):
        return []
    several = len(record.header.gpus) > 1
    found = []
    for ordinal, round_ in enumerate(record.rounds, start=1):
        sides: dict[str, list[Side]] = {"head": [cell.head for cell in round_.cells]}
        sides["base"] = [cell.base for cell in round_.cells if cell.base is not None]
        for name, blocks in ((name, [block for side in each for block in side.blocks]) for name, each in sides.items()):
            if blocks:
                found.append(_moment(ordinal, round_.gpu if several else None, name, blocks))
    return found


def void_blocks(record: Record) -> dict[str, dict[str, int]]:
    """Return, for each cell that has any, why blocks of it can't be trusted and how many."""
    found: dict[str, dict[str, int]] = {}
    for round_ in record.rounds:
        for cell in round_.cells:
            for side in (cell.head, cell.base):
                for block in side.blocks if side is not None else []:
                    for reason in block.voids:
                        reasons = found.setdefault(cell.key, {})
                        reasons[reason] = reasons.get(reason, 0) + 1
    return found


def _moment(ordinal: int, gpu: int | None, side: str, blocks: list[Block]) -> Moment:
    state = device_state(blocks)
    return Moment(
        ordinal=ordinal,
        gpu=gpu,
        side=side,
        clock_hz=state.sm_clock_hz,
        power_w=state.power_w,
        temperature_c=state.temperature_c,
        throttled=", ".join(throttle_names(state.throttle_reasons or 0)),
        void=sum(bool(block.voids) for block in blocks),
    )
