"""Other people's processes on the device that is being measured."""

from collections.abc import Sequence

import msgspec

from solwatch.app.processes import ForkServer
from solwatch.model.record import Block, Telemetry

FOREIGN_PROCESS = "foreign_process"


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
    if not after.other_processes and not crowded:
        return msgspec.structs.replace(block, before=before, after=after)
    return msgspec.structs.replace(block, before=before, after=after, voids=[*block.voids, FOREIGN_PROCESS])


def _foreign(reading: Telemetry, servers: Sequence[ForkServer]) -> Telemetry:
    foreign = [pid for pid in reading.other_processes if not any(pid in server.pids for server in servers)]
    return msgspec.structs.replace(reading, other_processes=foreign)
