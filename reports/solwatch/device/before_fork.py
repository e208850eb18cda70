"""What a fork server does once, so that every process forked from it starts warm: import torch, compile kernels.

Nothing here may touch CUDA: a context doesn't survive a fork.
"""

import importlib
from typing import Any

from solwatch.device.kernels import compiled
from solwatch.model.errors import MachineError


def warm_before_fork() -> list[str]:
    """Import torch and compile the sampler's kernels for every GPU that NVML shows.

    Returns what could not be done, one line each; the forked process then meets it again and says so itself.
    """
    failures = []
    try:
        importlib.import_module("torch")
    except ImportError as error:
        failures.append(f"torch: {error}")
    for capability in sorted(gpu_capabilities()):
        try:
            compiled(capability)
        except MachineError as error:
            failures.append(str(error))
    return failures


def gpu_capabilities() -> set[tuple[int, int]]:
    """Return the compute capabilities of this machine's GPUs, empty without a driver; asks NVML, not CUDA.

    The library is shut down again: a forked process opens its own.
    """
    module: Any = importlib.import_module("pynvml")
    try:
        module.nvmlInit()
    except module.NVMLError:
        return set()
    try:
        handles = [module.nvmlDeviceGetHandleByIndex(index) for index in range(module.nvmlDeviceGetCount())]
        return {tuple(module.nvmlDeviceGetCudaComputeCapability(handle)) for handle in handles}
    except module.NVMLError:
        return set()
    finally:
        module.nvmlShutdown()
