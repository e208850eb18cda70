"""The CUDA driver through cuda-bindings: every call's error checked and named."""

import importlib
from functools import cache
from typing import Any

from solwatch.model.errors import MachineError


@cache
def driver() -> Any:
    """Return the bindings of the CUDA driver; ``Any`` because they carry no types."""
    return importlib.import_module("cuda.bindings.driver")


def checked(name: str, *arguments: Any) -> Any:
    """Call the driver function ``name`` and return its result, or its results as a tuple.

    Raises ``MachineError`` that names the call and the driver's error.
    """
    return unpacked(name, getattr(driver(), name)(*arguments))


def unpacked(name: str, answer: tuple[Any, ...]) -> Any:
    """Return what came with the status code in ``answer``; raises ``MachineError`` for any code but success."""
    status, *results = answer
    if status:
        raise MachineError(f"{name} failed: {error_text(status)}")
    if not results:
        return None
    return results[0] if len(results) == 1 else tuple(results)


def error_text(status: Any) -> str:
    """Return the driver's name and description of an error code."""
    _, name = driver().cuGetErrorName(status)
    _, text = driver().cuGetErrorString(status)
    return f"{(name or b'unknown error').decode()} ({(text or b'').decode()})"


def device_attribute(name: str, index: int) -> int:
    """Return a device attribute (``L2_CACHE_SIZE``) of device ``index``."""
    attribute = getattr(driver().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(checked("cuDeviceGetAttribute", attribute, checked("cuDeviceGet", index)))
