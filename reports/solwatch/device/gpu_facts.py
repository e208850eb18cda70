"""What the driver tells an examination about the GPUs, through NVML alone."""

from collections.abc import Callable
from typing import Any

from solwatch.device.nvml import Gpu, nvml
from solwatch.device.resolving import visible_gpus
from solwatch.model.machine import GpuFacts
from solwatch.model.record import Telemetry

_READINGS: dict[str, Callable[[Telemetry], object]] = {
    "SM clock": lambda state: state.sm_clock_hz,
    "power": lambda state: state.power_w,
    "energy": lambda state: state.energy_j,
    "temperature": lambda state: state.temperature_c,
    "throttle reasons": lambda state: state.throttle_reasons,
    "utilisation": lambda state: state.utilization,
}


def gpu_facts() -> GpuFacts:
    """Return the GPUs this process may use and what the first of them tells; never raises."""
    try:
        library = nvml()
        count = visible_gpus()
        driver = _text(library.nvmlSystemGetDriverVersion())
        version = int(library.nvmlSystemGetCudaDriverVersion())
        handles = [library.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        models = tuple(_text(library.nvmlDeviceGetName(handle)) for handle in handles)
        first = Gpu(_text(library.nvmlDeviceGetUUID(handles[0]))) if handles else None
    except Exception as error:  # no library, no driver, no permission: each is a finding, none a crash
        return GpuFacts(error=f"{type(error).__name__}: {error}")
    unreadable: tuple[str, ...] = ()
    others: tuple[int, ...] = ()
    if first is not None:
        state = first.telemetry()
        unreadable = tuple(name for name, read in _READINGS.items() if read(state) is None)
        running = first.ask("nvmlDeviceGetComputeRunningProcesses") or []
        others = tuple(sorted(int(process.pid) for process in running))
    return GpuFacts(
        models=models,
        driver=driver,
        driver_cuda=(version // 1000, version % 1000 // 10),
        unreadable=unreadable,
        other_processes=others,
    )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
