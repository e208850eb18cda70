"""Where a command measures: the CPU, one GPU, or several GPUs of this host."""

import re
from dataclasses import dataclass

from solwatch.device.cuda_uuids import visible_uuids
from solwatch.device.resolving import resolve_device, visible_gpus
from solwatch.model.errors import MachineError, RequestError
from solwatch.model.record import GpuIdentity

EVERY_GPU = "all"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A device by its name (``cpu``, ``cuda:1``); ``gpu`` is ``None`` for the CPU."""

    device: str
    gpu: GpuIdentity | None = None

    @property
    def lock_name(self) -> str:
        """What tells the device apart from all others of the host, whatever number this process knows it by."""
        return self.gpu.uuid if self.gpu and self.gpu.uuid else self.device.replace(":", "-")


def places_of(device: str, gpus: str | None = None) -> list[Place]:
    """Return the place that ``device`` names (``auto``, ``cpu``, ``cuda:1``), or the ``gpus`` (``all``, ``0,1``).

    Raises ``RequestError`` for GPUs that make no sense or are not there, ``MachineError`` where there is none at all
    or, for several, where the driver doesn't tell which they are.
    """
    if gpus is None:
        resolved = resolve_device(device)
        # the CPU's name needs no driver, and where there is one its GPUs are left alone
        return [Place(device=resolved) if resolved == "cpu" else _gpu(resolved, visible_uuids())]
    if device != "auto":
        raise RequestError(f"--gpus {gpus} and --device {device}: give one of them")
    if not re.fullmatch(r"all|\d+(,\d+)*", gpus):
        raise RequestError(f"--gpus {gpus!r} is not understood: give all, or indices like 0,1")
    count = visible_gpus()
    if count == 0:
        raise MachineError(
            f"--gpus {gpus}: no GPU is visible to the driver; check nvidia-smi and CUDA_VISIBLE_DEVICES, "
            "or use --device cpu"
        )
    indices = list(range(count)) if gpus == EVERY_GPU else sorted({int(index) for index in gpus.split(",")})
    if indices[-1] >= count:
        raise RequestError(f"--gpus {gpus}: {count} GPU(s) are visible, the first is 0; check CUDA_VISIBLE_DEVICES")
    uuids = visible_uuids()
    if len(indices) > 1 and indices[-1] >= len(uuids):
        raise MachineError(
            f"--gpus {gpus}: the CUDA driver names {len(uuids)} of the {count} GPU(s) that are visible; "
            "check nvidia-smi, or measure on one with --device cuda:<index>"
        )
    return [_gpu(f"cuda:{index}", uuids) for index in indices]


def _gpu(device: str, uuids: list[str]) -> Place:
    index = int(device.partition(":")[2])
    return Place(device=device, gpu=GpuIdentity(index=index, uuid=uuids[index] if index < len(uuids) else None))
