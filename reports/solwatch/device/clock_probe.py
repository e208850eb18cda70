"""The SM clock of a block, from the SMs' own cycle counters: cycles passed over time passed, both read on the GPU.

The management library reads a clock every few milliseconds at best and in steps; a block lasts ten. Two launches of
a kernel that notes each SM's cycle counter and the global timer give the mean over exactly the block.
"""

import ctypes
from typing import Any

import numpy as np
import torch

from solwatch.device.kernels import Arguments, Kernels

SLOTS = 1024
"""More than any GPU has SMs; numbers of SMs that are switched off leave holes."""

LEAST_S = 1e-4
"""Over less time than this the two readings' own spread of some ten nanoseconds shows."""


class ClockProbe:
    """Reads the mean SM clock between ``begin`` and ``end``, which are launched in stream order."""

    def __init__(self, kernels: Kernels, device: torch.device) -> None:
        """Take the memory that the kernel writes to."""
        self._kernels = kernels
        self._slots = torch.zeros(2, SLOTS, 2, dtype=torch.int64, device=device)
        size = self._slots[0].numel() * self._slots.element_size()
        self._arguments = [
            Arguments(ctypes.c_uint64(self._slots.data_ptr() + half * size), ctypes.c_uint32(SLOTS))
            for half in range(2)
        ]

    def begin(self, stream: Any) -> None:
        """Note the counters; the current torch stream must be ``stream``."""
        self._slots.zero_()
        self._kernels.clocks(stream, self._arguments[0])

    def end(self, stream: Any) -> None:
        """Note them again."""
        self._kernels.clocks(stream, self._arguments[1])

    def clock_hz(self) -> float | None:
        """Return the mean clock over the SMs that were read twice, ``None`` when none was; waits for the GPU."""
        slots = self._slots.cpu().numpy()
        cycles, passed_ns = np.moveaxis(slots[1] - slots[0], 1, 0)
        read_twice = (slots[:, :, 1] > 0).all(axis=0) & (passed_ns > LEAST_S * 1e9)
        return float((cycles[read_twice] / passed_ns[read_twice]).mean()) * 1e9 if read_twice.any() else None
