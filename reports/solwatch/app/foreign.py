"""Other people's processes on the device that is being measured."""

import msgspec

from solwatch.app.processes import ForkServer
from solwatch.model.record import Block, Telemetry

FOREIGN_PROCESS = "foreign_process"


def with_foreign_processes(block: Block, server: ForkServer) -> Block:
    """Return ``block`` with only those processes in its telemetry that aren't ours, void when there are any.

    Where ids mean nothing (a container that hides them) more processes than we have running count as foreign.
    """
    if block.after is None:
        return block
    before = _foreign(block.before, server) if block.before else None
    after = _foreign(block.after, server)
    running = len(server.running)
    crowded = after.unnamed_processes is not None and after.unnamed_processes > running
    if not after.other_processes and not crowded:
        return msgspec.structs.replace(block, before=before, after=after)
    return msgspec.structs.replace(block, before=before, after=after, voids=[*block.voids, FOREIGN_PROCESS])


def _foreign(reading: Telemetry, server: ForkServer) -> Telemetry:
    return msgspec.structs.replace(
        reading, other_processes=[pid for pid in reading.other_processes if pid not in server.pids]
    )
