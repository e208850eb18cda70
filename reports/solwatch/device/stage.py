"""One GPU made ready for timing: a stream of its own, a gate, a flush, events, the sampler's kernels."""

import ctypes
import time
from collections.abc import Callable
from typing import Any

import torch

from solwatch.device.driver import checked, device_attribute, driver, unpacked
from solwatch.device.kernels import Arguments, Kernels
from solwatch.device.launch_slots import LaunchSlots
from solwatch.device.streams import Gate

READ_FLUSH = "read"
MEMSET_FLUSH = "memset"


class Stage:
    """What every timer on a GPU needs.

    The stream is a blocking one: work that a call puts on the legacy default stream is ordered with it, and
    capturing such a call fails instead of missing the work.

    ``flush_kind``: ``read`` leaves L2 clean; ``memset`` leaves it dirty, whose write-back is then billed to the
    call by up to 20 %, and exists to compare with tools that flush so.
    """

    def __init__(
        self, index: int, *, flush_kind: str = READ_FLUSH, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """Open device ``index`` as torch counts it and load everything that will be launched behind the gate."""
        self.clock = clock
        self.index = index
        self.device = torch.device("cuda", index)
        torch.cuda.set_device(index)
        torch.cuda.init()  # type: ignore[no-untyped-call]
        torch.zeros(1, device=self.device)  # makes the primary context current for the driver calls below
        properties = torch.cuda.get_device_properties(index)
        self.properties = properties
        self.kernels = Kernels((properties.major, properties.minor), properties.multi_processor_count)
        self.handle = checked("cuStreamCreate", 0)
        self.stream = torch.cuda.ExternalStream(int(self.handle), device=self.device)  # type: ignore[no-untyped-call]
        self.gate = Gate(index, self.kernels)
        self.flush_kind = flush_kind
        self.l2_bytes = device_attribute("L2_CACHE_SIZE", index)
        self._flush_bytes = max(2 * self.l2_bytes, 1 << 24) if flush_kind == READ_FLUSH else self.l2_bytes
        self._flushed = torch.zeros(self._flush_bytes + 256, dtype=torch.uint8, device=self.device)
        start = self._flushed.data_ptr()
        self._flush_arguments = Arguments(
            ctypes.c_uint64(start), ctypes.c_uint64(self._flush_bytes // 16), ctypes.c_uint64(start + self._flush_bytes)
        )
        self._events: list[Any] = []
        self._record = driver().cuEventRecord
        self._elapsed = driver().cuEventElapsedTime
        self._slots = LaunchSlots(index)
        self._load_everything()
        self.flush_s = self._time_flush()

    def flush(self) -> None:
        """Drive everything else out of L2, in stream order."""
        self.launched(1)
        if self.flush_kind == READ_FLUSH:
            self.kernels.flush(self.handle, self._flush_arguments)
        else:
            checked("cuMemsetD8Async", self._flushed.data_ptr(), 0, self._flush_bytes, self.handle)

    def null(self) -> None:
        """Launch the kernel that does nothing."""
        self.launched(1)
        self.kernels.null(self.handle)

    def mark(self) -> Any:
        """Record and return an event; give it back with ``recycle``."""
        event = self._events.pop() if self._events else checked("cuEventCreate", 0)
        unpacked("cuEventRecord", self._record(event, self.handle))
        return event

    def seconds(self, start: Any, end: Any) -> float:
        """Return the time between two events that have happened, in seconds."""
        return float(unpacked("cuEventElapsedTime", self._elapsed(start, end))) * 1e-3

    def wait(self, event: Any) -> None:
        """Block until ``event`` has happened."""
        checked("cuEventSynchronize", event)

    def recycle(self, *events: Any) -> None:
        """Keep events for later marks."""
        self._events.extend(events)

    def launched(self, count: int) -> None:
        """Note that a call has launched ``count`` kernels."""
        self._slots.launched(count)

    def vary(self, what: str) -> None:
        """Launch the null kernel 0 to 3 times, so that samples of ``what`` meet every launch slot equally often."""
        for _ in range(self._slots.missing(what)):
            self.null()

    def synchronize(self) -> None:
        """Block until everything on the device is done, whatever stream it is on."""
        torch.cuda.synchronize(self.device)

    def _load_everything(self) -> None:
        self.flush()
        self.null()
        self.kernels.spin(self.handle, 1e-6)
        self.gate.hold(self.handle)
        self.gate.release()
        self.recycle(*[self.mark() for _ in range(64)])
        self.synchronize()

    def _time_flush(self) -> float:
        start = self.mark()
        for _ in range(10):
            self.flush()
        end = self.mark()
        self.wait(end)
        self.recycle(start, end)
        return self.seconds(start, end) / 10
