"""What the driver's management library says of a GPU: identity, clocks, power, throttling, who else is on it."""

import importlib
import os
from collections.abc import Callable
from functools import cache
from typing import Any

from solwatch.model.fingerprint import MEASURING_PROTOCOL, Fingerprint
from solwatch.model.record import Telemetry

POLICIES = {"power": "POWER", "thermal": "THERMAL", "board_limit": "BOARD_LIMIT", "reliability": "RELIABILITY"}
"""Names of the throttle counters in ``Telemetry.violation_s`` and in NVML."""


@cache
def nvml() -> Any:
    """Return NVML's bindings, initialised; raises what they raise when the library isn't there."""
    module: Any = importlib.import_module("pynvml")
    module.nvmlInit()
    return module


class Gpu:
    """One GPU as NVML sees it.

    NVML may be missing, or vanish in mid-run: then fields are ``None`` and ``lost`` holds what it said last.
    """

    def __init__(self, uuid: str) -> None:
        """Find the GPU whose UUID is ``uuid`` (``GPU-…``)."""
        self.uuid = uuid
        self.lost: str | None = None
        self._handle: Any = None
        try:
            self._handle = nvml().nvmlDeviceGetHandleByUUID(uuid)
        except Exception as error:  # no library, no driver, no permission: all the same to a measurement
            self.lost = f"{type(error).__name__}: {error}"

    def ask(self, function: str, *arguments: Any) -> Any:
        """Return NVML's answer about this GPU, ``None`` where it has none.

        A GPU that doesn't support a question is no loss; any other failure is.
        """
        if self._handle is None:
            return None
        module = nvml()
        try:
            return getattr(module, function)(self._handle, *arguments)
        except (module.NVMLError_NotSupported, module.NVMLError_NoPermission, module.NVMLError_FunctionNotFound):
            return None
        except Exception as error:
            self.lost = f"{function}: {error}"
            return None

    def telemetry(self) -> Telemetry:
        """Return the GPU's state at this instant, for about half a millisecond.

        Without the energy counter: reading it takes longer than everything else together, and within a block
        it moves too coarsely to say anything (``energy_j`` reads it for a hot loop).
        """
        if self._handle is None:
            return Telemetry()
        module = nvml()
        others, unnamed = self.processes()
        return Telemetry(
            sm_clock_hz=_scaled(self.ask("nvmlDeviceGetClockInfo", module.NVML_CLOCK_SM), 1e6),
            memory_clock_hz=_scaled(self.ask("nvmlDeviceGetClockInfo", module.NVML_CLOCK_MEM), 1e6),
            power_w=_scaled(self.ask("nvmlDeviceGetPowerUsage"), 1e-3),
            temperature_c=_scaled(self.ask("nvmlDeviceGetTemperature", module.NVML_TEMPERATURE_GPU), 1.0),
            throttle_reasons=self.ask("nvmlDeviceGetCurrentClocksEventReasons"),
            violation_s=self._violation_s(),
            ecc_errors=self.ask(
                "nvmlDeviceGetTotalEccErrors", module.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, module.NVML_VOLATILE_ECC
            ),
            utilization=_fraction(self.ask("nvmlDeviceGetUtilizationRates")),
            other_processes=others,
            unnamed_processes=unnamed,
        )

    def instant(self) -> tuple[float | None, float | None, int]:
        """Return SM clock in Hz, power in W and throttle reasons: what is worth sampling while a block runs."""
        if self._handle is None:
            return None, None, 0
        return (
            _scaled(self.ask("nvmlDeviceGetClockInfo", nvml().NVML_CLOCK_SM), 1e6),
            _scaled(self.ask("nvmlDeviceGetPowerUsage"), 1e-3),
            int(self.ask("nvmlDeviceGetCurrentClocksEventReasons") or 0),
        )

    def energy_j(self) -> float | None:
        """Return the joules used since the driver was loaded; the counter moves every 20 to 100 ms."""
        return _scaled(self.ask("nvmlDeviceGetTotalEnergyConsumption"), 1e-3)

    def processes(self, own: Callable[[], int] = os.getpid) -> tuple[list[int], int | None]:
        """Return the ids of other processes with a context on this GPU, and how many there are without a name.

        Inside a container NVML may count in another name space. When it doesn't list this very process, its ids
        mean nothing here: the list is empty and the second value is how many it lists, this process among them.
        """
        running = self.ask("nvmlDeviceGetComputeRunningProcesses") or []
        pids = sorted({int(process.pid) for process in running})
        return ([pid for pid in pids if pid != own()], None) if own() in pids else ([], len(running))

    def fingerprint(self, *, model: str, cuda: str | None, torch: str | None) -> Fingerprint:
        """Return the identity of a time taken here; ``model`` is used where NVML doesn't give a name."""
        ecc = self.ask("nvmlDeviceGetEccMode")
        return Fingerprint(
            device="cuda",
            model=_text(self.ask("nvmlDeviceGetName")) or model,
            driver=self._driver(),
            vbios=_text(self.ask("nvmlDeviceGetVbiosVersion")),
            power_limit_w=_scaled(self.ask("nvmlDeviceGetEnforcedPowerLimit"), 1e-3),
            ecc=None if ecc is None else bool(ecc[0]),
            clock_lock=self._clock_lock(),
            cuda=cuda,
            torch=torch,
            protocol=MEASURING_PROTOCOL,
            uuid=self.uuid,
        )

    def maximum_clocks_hz(self) -> tuple[float | None, float | None]:
        """Return the maximum SM and memory clocks."""
        if self._handle is None:
            return None, None
        module = nvml()
        sm = self.ask("nvmlDeviceGetMaxClockInfo", module.NVML_CLOCK_SM)
        memory = self.ask("nvmlDeviceGetMaxClockInfo", module.NVML_CLOCK_MEM)
        return _scaled(sm, 1e6), _scaled(memory, 1e6)

    def nominal_clock_hz(self) -> float | None:
        """Return the SM clock that this GPU is meant to reach: the application clock where one is set, else the
        maximum."""
        if self._handle is None:
            return None
        now = self.ask("nvmlDeviceGetApplicationsClock", nvml().NVML_CLOCK_SM)
        return _scaled(now, 1e6) if now is not None and self._clock_lock() else self.maximum_clocks_hz()[0]

    def bus_width_bits(self) -> int | None:
        """Return the width of the memory bus."""
        width = self.ask("nvmlDeviceGetMemoryBusWidth")
        return None if width is None else int(width)

    def _driver(self) -> str | None:
        if self._handle is None:
            return None
        try:
            return _text(nvml().nvmlSystemGetDriverVersion())
        except Exception as error:  # the same as in ``ask``: this question alone is not about a GPU
            self.lost = f"nvmlSystemGetDriverVersion: {error}"
            return None

    def _clock_lock(self) -> str | None:
        """Return the application clock where it isn't the default; NVML has no question for a locked clock."""
        if self._handle is None:
            return None
        now = self.ask("nvmlDeviceGetApplicationsClock", nvml().NVML_CLOCK_SM)
        default = self.ask("nvmlDeviceGetDefaultApplicationsClock", nvml().NVML_CLOCK_SM)
        return None if now is None or now == default else f"application clock {now} MHz"

    def _violation_s(self) -> dict[str, float]:
        # One question for all counters: asked one by one they take four times as long.
        fields = [getattr(nvml(), f"NVML_FI_DEV_PERF_POLICY_{policy}") for policy in POLICIES.values()]
        answers = self.ask("nvmlDeviceGetFieldValues", fields) or []
        return {
            name: int(answer.value.ullVal) * 1e-9
            for name, answer in zip(POLICIES, answers, strict=False)
            if answer.nvmlReturn == 0
        }


def _scaled(value: Any, unit: float) -> float | None:
    return None if value is None else float(value) * unit


def _fraction(rates: Any) -> float | None:
    return None if rates is None else float(rates.gpu) / 100


def _text(value: Any) -> str | None:
    return value.decode() if isinstance(value, bytes) else value
