"""A management library without a GPU: answers are the test's to set, and it can vanish."""

from types import SimpleNamespace
from typing import Any


class FakeNvml:
    """Answers by function name; a name that isn't there is not supported."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC = 1, 0
    NVML_FI_DEV_PERF_POLICY_POWER, NVML_FI_DEV_PERF_POLICY_THERMAL = 1, 2
    NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT, NVML_FI_DEV_PERF_POLICY_RELIABILITY = 3, 4

    class NVMLError(Exception):
        pass

    class NVMLError_NotSupported(NVMLError):  # NVML's own names
        pass

    class NVMLError_NoPermission(NVMLError):
        pass

    class NVMLError_FunctionNotFound(NVMLError):
        pass

    def __init__(self, **answers: Any) -> None:
        self.vanished = False
        self.answers: dict[str, Any] = {
            "nvmlDeviceGetHandleByUUID": lambda uuid: f"handle of {uuid}",
            "nvmlSystemGetDriverVersion": lambda: "580.1",
            "nvmlDeviceGetClockInfo": lambda handle, kind: {1: 1980, 2: 3201}[kind],
            "nvmlDeviceGetPowerUsage": lambda handle: 650_000,
            "nvmlDeviceGetTotalEnergyConsumption": lambda handle: 12_345,
            "nvmlDeviceGetTemperature": lambda handle, sensor: 54,
            "nvmlDeviceGetCurrentClocksEventReasons": lambda handle: 4,
            "nvmlDeviceGetFieldValues": lambda handle, fields: [
                SimpleNamespace(nvmlReturn=0, value=SimpleNamespace(ullVal=field * 10**9)) for field in fields
            ],
            "nvmlDeviceGetUtilizationRates": lambda handle: SimpleNamespace(gpu=75),
            "nvmlDeviceGetComputeRunningProcesses": lambda handle: [SimpleNamespace(pid=pid) for pid in (30, 10, 20)],
        } | answers

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            if self.vanished:
                raise self.NVMLError("GPU is lost")
            if name not in self.answers:
                raise self.NVMLError_NotSupported(name)
            return self.answers[name](*arguments)

        return call
