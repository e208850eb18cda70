"""Xid errors: what the driver reports when a GPU or a program on it fails."""

from typing import Any

from solwatch.device.nvml import Gpu, nvml


class XidWatch:
    """Listens for Xid errors of one GPU; where the driver doesn't offer that, it hears nothing."""

    def __init__(self, gpu: Gpu) -> None:
        """Start listening."""
        self._set: Any = None
        if gpu.lost is None:
            try:
                self._set = nvml().nvmlEventSetCreate()
            except Exception:  # as everywhere in NVML: what isn't offered is no loss
                return
            gpu.ask("nvmlDeviceRegisterEvents", nvml().nvmlEventTypeXidCriticalError, self._set)

    def heard(self) -> list[int]:
        """Return the numbers of the errors reported since the last call."""
        numbers: list[int] = []
        while self._set is not None and len(numbers) < 100:
            try:
                numbers.append(int(nvml().nvmlEventSetWait_v2(self._set, 0).eventData))
            except Exception:  # the time limit of 0 ms, as a rule: nothing was reported
                break
        return numbers
