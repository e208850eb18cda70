"""The GPUs that CUDA shows this process, each with its name and capability: what a kernel would really run on."""

import ctypes

from solwatch.model.errors import MachineError
from solwatch.model.machine import Card

_MAJOR, _MINOR = 75, 76
"""``CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`` and ``_MINOR``."""

_NAME_BYTES = 256


def visible_cards() -> list[Card]:
    """Return the visible GPUs, ``cuda:0`` first.

    The driver itself is asked: NVML gives a slice (MIG) the name of the whole GPU and knows nothing of
    CUDA_VISIBLE_DEVICES. No context is made. Raises ``MachineError`` where there is no driver or no GPU.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise MachineError("the CUDA driver is not installed: libcuda.so.1 can't be loaded") from error
    _ask(driver, "cuInit", 0)
    count = ctypes.c_int()
    _ask(driver, "cuDeviceGetCount", ctypes.byref(count))
    return [_card(driver, index) for index in range(count.value)]


def _card(driver: ctypes.CDLL, index: int) -> Card:
    device, name = ctypes.c_int(), ctypes.create_string_buffer(_NAME_BYTES)
    _ask(driver, "cuDeviceGet", ctypes.byref(device), index)
    _ask(driver, "cuDeviceGetName", name, _NAME_BYTES, device)
    major, minor = ctypes.c_int(), ctypes.c_int()
    _ask(driver, "cuDeviceGetAttribute", ctypes.byref(major), _MAJOR, device)
    _ask(driver, "cuDeviceGetAttribute", ctypes.byref(minor), _MINOR, device)
    return Card(name=name.value.decode(errors="replace"), capability=(major.value, minor.value))


def _ask(driver: ctypes.CDLL, function: str, *arguments: object) -> None:
    error = getattr(driver, function)(*arguments)
    if error:
        said = ctypes.c_char_p()
        driver.cuGetErrorString(error, ctypes.byref(said))
        raise MachineError(f"the CUDA driver fails at {function}: {(said.value or b'unknown').decode()} ({error})")
