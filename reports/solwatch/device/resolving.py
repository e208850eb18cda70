"""Which device a name means on this machine, decided without importing torch."""

import os
import re

from solwatch.model.errors import MachineError, RequestError

_FIX = "check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu"


def resolve_device(name: str) -> str:
    """Return ``cpu`` or ``cuda:<index>`` for ``auto``, ``cpu``, ``cuda`` or ``cuda:<index>``.

    ``auto`` is the first visible GPU, the CPU where there is none. Raises ``RequestError`` for another name and
    ``MachineError`` when a GPU is asked for and not there.
    """
    match = re.fullmatch(r"auto|cpu|cuda(?::(\d+))?", name)
    if match is None:
        raise RequestError(f"device {name!r} is not known: give auto, cpu, cuda or cuda:<index>")
    if name == "cpu":
        return "cpu"
    count = visible_gpus()
    if name == "auto":
        return "cuda:0" if count else "cpu"
    index = int(match.group(1) or 0)
    if count == 0:
        raise MachineError(f"--device {name}: no GPU is visible to the driver; {_FIX}")
    if index >= count:
        raise MachineError(f"--device {name}: {count} GPU(s) are visible, the first is cuda:0; {_FIX}")
    return f"cuda:{index}"


def visible_gpus() -> int:
    """Return how many GPUs the driver shows this process, 0 without a driver."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return 0
    try:
        count = int(pynvml.nvmlDeviceGetCount())
    except pynvml.NVMLError:
        return 0
    finally:
        pynvml.nvmlShutdown()
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return count
    listed = [entry.strip() for entry in chosen.split(",")]
    # CUDA ignores everything from the first entry that names no device on.
    valid = 0
    for entry in listed:
        if not entry or entry == "-1" or (entry.isdigit() and int(entry) >= count):
            break
        valid += 1
    return valid
