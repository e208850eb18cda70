"""Which GPUs this process sees, each by the name that is the same for every process of the host."""

import ctypes
import uuid

_MIG = " MIG "
"""Part of the driver's name of a slice of a GPU (``NVIDIA H200 MIG 1g.18gb``)."""

_NAME_BYTES = 256


def visible_uuids() -> list[str]:
    """Return the UUIDs of the visible GPUs (``GPU-…``, ``MIG-…``), ``cuda:0`` first; empty without a driver.

    The driver itself is asked: it applies CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, and knows slices. It makes no
    context for that, and torch is not imported.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int()
        if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
            return []
        found = [_uuid(driver, index) for index in range(count.value)]
    except (OSError, AttributeError):  # no driver, or one too old to tell
        return []
    return [one for one in found if one is not None] if None not in found else []


def _uuid(driver: ctypes.CDLL, index: int) -> str | None:
    device, raw, name = ctypes.c_int(), (ctypes.c_ubyte * 16)(), ctypes.create_string_buffer(_NAME_BYTES)
    failed = (
        driver.cuDeviceGet(ctypes.byref(device), index)
        or driver.cuDeviceGetUuid_v2(ctypes.byref(raw), device)
        or driver.cuDeviceGetName(name, _NAME_BYTES, device)
    )
    if failed:
        return None
    return f"{'MIG' if _MIG in name.value.decode() else 'GPU'}-{uuid.UUID(bytes=bytes(raw))}"
