"""Other people's processes on the device that is being measured."""

import time
from collections.abc import Callable, Sequence

import msgspec

from solwatch.app.processes import ForkServer
from solwatch.device.nvml import Gpu
from solwatch.device.places import Place
from solwatch.model.errors import MachineError
from solwatch.model.record import Block, Telemetry

FOREIGN_PROCESS = "foreign_process"

FREE_WITHIN_S = 3.0
"""What a process that has just ended leaves behind is gone by then, from the list and from the utilisation."""

IDLE_UTILIZATION = 0.1


def require_free(place: Place, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Raise ``MachineError`` when others use the GPU, before anything of ours does.

    Where a container hides the others' processes, their work still shows in the utilisation.
    """
    if place.gpu is None or place.gpu.uuid is None:
        return
    gpu = Gpu(place.gpu.uuid)
    waited_s = 0.0
    while (found := _others(gpu)) is not None:
        if waited_s >= FREE_WITHIN_S:
            raise MachineError(
                f"{place.device} is in use: {found}; times taken beside that can't be trusted: end it, or measure on "
                "another GPU (--device cuda:<index>)"
            )
        sleep(0.25)
        waited_s += 0.25


def _others(gpu: Gpu) -> str | None:
    reading = gpu.telemetry()
    if reading.other_processes:
        return f"process {', '.join(map(str, reading.other_processes))} has a context on it"
    if reading.unnamed_processes:
        return f"{reading.unnamed_processes} process(es) have a context on it"
    if (reading.utilization or 0.0) > IDLE_UTILIZATION:
        return f"it is {100 * (reading.utilization or 0.0):.0f} % busy with work of others"
    return None


def with_foreign_processes(block: Block, servers: Sequence[ForkServer]) -> Block:
    """Return ``block`` with only those processes in its telemetry that aren't ours, void when there are any.

    Where ids mean nothing (a container that hides them) more processes than we have running count as foreign.
    """
    if block.after is None:
        return block
    before = _foreign(block.before, servers) if block.before else None
    after = _foreign(block.after, servers)
    running = sum(len(server.running) for server in servers)
    crowded = after.unnamed_processes is not None and after.unnamed_processes > running
    there = after.other_processes or (before is not None and before.other_processes)
    if not there and not crowded:
        return msgspec.structs.replace(block, before=before, after=after)
    return msgspec.structs.replace(block, before=before, after=after, voids=[*block.voids, FOREIGN_PROCESS])


def _foreign(reading: Telemetry, servers: Sequence[ForkServer]) -> Telemetry:
    foreign = [pid for pid in reading.other_processes if not any(pid in server.pids for server in servers)]
    return msgspec.structs.replace(reading, other_processes=foreign)
