"""What a fork server does once, so that every process forked from it starts warm: imports, compiled kernels.

Nothing here may touch CUDA: a context doesn't survive a fork.
"""

import importlib
import subprocess
import sys
from typing import Any

from solwatch.device.kernels import adopt

COMPILE_LIMIT_S = 60.0


def warm_before_fork() -> list[str]:
    """Import torch and the processor's device, and have the sampler's kernels compiled for every GPU that NVML shows.

    They are compiled in processes of their own, beside the import: NVRTC's bindings initialise the CUDA driver,
    and no process forked after that could use a GPU. Returns what could not be done, one line each; the forked
    process then meets it again and says so itself.
    """
    compilers = {capability: _start_compiler(capability) for capability in sorted(gpu_capabilities())}
    failures = []
    try:
        importlib.import_module("solwatch.device.cpu")  # and with it torch
    except ImportError as error:
        failures.append(f"torch: {error}")
    for capability, compiler in compilers.items():
        try:
            cubin, said = compiler.communicate(timeout=COMPILE_LIMIT_S)
        except subprocess.TimeoutExpired:
            compiler.kill()
            failures.append(f"NVRTC did not answer for {COMPILE_LIMIT_S:g} s")
            continue
        if compiler.returncode == 0:
            adopt(capability, cubin)
        else:
            failures.append(said.decode(errors="replace").strip().splitlines()[-1])
    return failures


def _start_compiler(capability: tuple[int, int]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "solwatch.device.kernels", *map(str, capability)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


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
