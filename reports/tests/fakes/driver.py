"""A CUDA driver without a GPU: host memory is real, everything else is noted."""

import ctypes
from types import SimpleNamespace
from typing import Any


class FakeDriver:
    """Answers what a gate asks; ``attributes`` are the device's, ``calls`` what was called, in order."""

    CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_PORTABLE = 2, 1
    CUstreamWaitValue_flags = SimpleNamespace(CU_STREAM_WAIT_VALUE_GEQ=0)

    def __init__(self, **attributes: int) -> None:
        self.attributes = attributes
        self.calls: list[tuple[Any, ...]] = []
        self._memory = ctypes.create_string_buffer(64)
        self.CUdevice_attribute = SimpleNamespace(**{f"CU_DEVICE_ATTRIBUTE_{name}": name for name in attributes})

    @property
    def word(self) -> int:
        """The word of host memory that a stream would wait for."""
        return ctypes.c_uint32.from_buffer(self._memory).value

    def cuDeviceGet(self, index: int) -> tuple[int, int]:  # CUDA's own names
        return 0, index

    def cuDeviceGetAttribute(self, name: str, device: int) -> tuple[int, int]:
        return 0, self.attributes[name]

    def cuMemHostAlloc(self, size: int, flags: int) -> tuple[int, int]:
        return 0, ctypes.addressof(self._memory)

    def cuMemHostGetDevicePointer(self, pointer: int, flags: int) -> tuple[int, int]:
        return 0, 0xD0000

    def cuStreamWaitValue32(self, stream: str, address: int, value: int, flags: int) -> tuple[int]:
        self.calls.append(("wait", stream, address, value))
        return (0,)

    def cuEventSynchronize(self, event: str) -> tuple[int]:
        return (719,)

    def cuGetErrorName(self, status: int) -> tuple[int, bytes]:
        return 0, b"CUDA_ERROR_LAUNCH_FAILED"

    def cuGetErrorString(self, status: int) -> tuple[int, bytes]:
        return 0, b"unspecified launch failure"
