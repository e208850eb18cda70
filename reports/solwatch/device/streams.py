"""Holding a stream until the host has enqueued a whole chunk of work, and letting it go from the host.

A timed spin in front of the work is not a gate: the host is sometimes slower than any fixed time. Here the stream
waits for a word of host memory. Nothing runs on the GPU meanwhile, so another process can use it.
"""

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

from solwatch.device.driver import checked, device_attribute, driver
from solwatch.device.kernels import Kernels

WATCHDOG_S = 5.0
"""A gate still closed after this long is opened: enqueueing a chunk takes milliseconds."""

_POLL_S = 0.1
_MASK = 0xFFFFFFFF


class Gate:
    """A gate in front of a stream: ``hold`` closes it, ``release`` opens it, a watchdog opens it when that fails.

    The gate waits by ``cuStreamWaitValue32`` where the device can, else by a kernel of one thread
    (``waits_by_kernel``). Every use of the gate has the next ticket, so that a late watchdog can't open the
    gate of a later chunk.

    The watchdog is a Python thread: it can't run while a call holds the interpreter lock and waits for the
    stream. Such a call hangs the process, and whoever runs it must end it.
    """

    def __init__(
        self,
        index: int,
        kernels: Kernels,
        *,
        watchdog_s: float = WATCHDOG_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take one word of mapped pinned memory in the current context of device ``index``."""
        cuda = driver()
        self.waits_by_kernel = not device_attribute("CAN_USE_STREAM_WAIT_VALUE_NOR", index) and not device_attribute(
            "CAN_USE_STREAM_MEM_OPS_V1", index
        )
        flags = cuda.CU_MEMHOSTALLOC_DEVICEMAP | cuda.CU_MEMHOSTALLOC_PORTABLE
        self._memory = checked("cuMemHostAlloc", 64, flags)
        self._word = ctypes.c_uint32.from_address(int(self._memory))
        self._word.value = 0
        self._address = int(checked("cuMemHostGetDevicePointer", int(self._memory), 0))
        self._wait = cuda.cuStreamWaitValue32
        self._at_least = int(cuda.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_GEQ)
        self._kernels = kernels
        self._ticket = 0
        self._watchdog_s = watchdog_s
        self._clock = clock
        self._closed: tuple[int, float] | None = None
        self._opened_by_watchdog = 0
        threading.Thread(target=self._watch, name="solwatch-gate", daemon=True).start()

    @property
    def opened_by_watchdog(self) -> int:
        """How often the watchdog had to open the gate."""
        return self._opened_by_watchdog

    def hold(self, stream: Any) -> None:
        """Make everything enqueued on ``stream`` from now on wait for ``release``."""
        ticket = (self._ticket + 1) & _MASK
        self._ticket = ticket
        self._closed = (ticket, self._clock() + self._watchdog_s)
        if self.waits_by_kernel:
            self._kernels.gate(stream, self._address, ticket)
        else:
            checked("cuStreamWaitValue32", stream, self._address, ticket, self._at_least)

    def release(self) -> None:
        """Let the stream go."""
        self._word.value = self._ticket
        self._closed = None

    def _watch(self) -> None:
        while True:
            time.sleep(min(_POLL_S, self._watchdog_s / 4))
            closed = self._closed
            if closed is not None and self._clock() >= closed[1]:
                self._word.value = closed[0]
                self._opened_by_watchdog += 1
                if self._closed is closed:
                    self._closed = None
