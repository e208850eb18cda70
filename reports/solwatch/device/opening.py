"""Opening a device by its name; torch is imported only now."""

import importlib
import importlib.util
import re

from solwatch.model.errors import MachineError, RequestError
from solwatch.model.ports import Device


def open_device(name: str, *, seed: int) -> Device:
    """Open ``cpu``, ``cuda``, ``cuda:1`` or ``auto`` (a GPU where there is one); ``seed`` draws buffers' places.

    Raises ``RequestError`` for another name and ``MachineError`` when torch or the GPU is missing.
    """
    match = re.fullmatch(r"(cpu|auto|cuda)(?::(\d+))?", name)
    if not match or (match.group(2) and match.group(1) != "cuda"):
        raise RequestError(f"device {name!r} is not known: give cpu, cuda, cuda:<index> or auto")
    if importlib.util.find_spec("torch") is None:
        raise MachineError("torch is not installed beside solwatch: install torch >= 2.10 into this environment")
    if match.group(1) == "cpu" or (match.group(1) == "auto" and missing_gpu() is not None):
        from solwatch.device.cpu import CpuDevice

        return CpuDevice(seed=seed)
    missing = missing_gpu()
    if missing is not None:
        raise MachineError(f"device {name}: {missing}")
    import torch

    index = int(match.group(2) or torch.cuda.current_device())
    if index >= torch.cuda.device_count():
        raise MachineError(f"device {name}: this machine shows {torch.cuda.device_count()} GPU(s), the first is cuda:0")
    from solwatch.device.cuda import CudaDevice

    return CudaDevice(index, seed=seed)


def near_device(name: str) -> None:
    """Do what can be done of opening ``name`` without a trace on it: a GPU that others measure on is not disturbed.

    Making a context on an H200 made kernels of another process up to 30 % slower for some 70 ms; loading the
    libraries and initialising the driver did not. What is missing is left for ``open_device`` to tell.
    """
    if name.startswith("cuda") and importlib.util.find_spec("torch") is not None and missing_gpu() is None:
        import torch

        importlib.import_module("solwatch.device.cuda")
        torch.cuda.init()  # type: ignore[no-untyped-call]


def missing_gpu() -> str | None:
    """Return what keeps a GPU from being used, with the fix; ``None`` when nothing does."""
    import torch

    if torch.version.cuda is None:
        return f"torch {torch.__version__} is built without CUDA: install a CUDA build of torch, or use --device cpu"
    if not torch.cuda.is_available():
        return "torch finds no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu"
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.bindings") is None:
        return "cuda-bindings is not installed: pip install 'solwatch[cuda]', or use --device cpu"
    return None
