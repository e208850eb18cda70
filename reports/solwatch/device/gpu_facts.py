"""What the driver tells an examination about the GPUs, through NVML alone."""

from typing import Any

from solwatch.device.nvml import Gpu, nvml
from solwatch.device.resolving import visible_gpus
from solwatch.model.machine import GpuFacts


def _unreadable(gpu: Gpu) -> tuple[str, ...]:
    """Return the names of the readings that ``gpu`` refuses."""
    state = gpu.telemetry()
    readings = {
        "SM clock": state.sm_clock_hz,
        "power": state.power_w,
        "energy": gpu.energy_j(),
        "temperature": state.temperature_c,
        "throttle reasons": state.throttle_reasons,
        "utilisation": state.utilization,
    }
    return tuple(name for name, value in readings.items() if value is None)


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
        unreadable = _unreadable(first)
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
