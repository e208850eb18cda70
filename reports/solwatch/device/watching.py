"""Watching a GPU while a block runs, and what of it makes the block void."""

import threading
from dataclasses import dataclass, field
from types import TracebackType

from solwatch.device.nvml import Gpu
from solwatch.model.record import Telemetry

PERIOD_S = 5e-3

HW_SLOWDOWN, SW_THERMAL, HW_THERMAL, POWER_BRAKE = 0x8, 0x20, 0x40, 0x80
"""Bits of NVML's throttle reasons that no healthy card shows under load; a power cap (0x4) is normal."""

_VOIDING = {
    HW_SLOWDOWN: "hardware_slowdown",
    SW_THERMAL: "thermal_slowdown",
    HW_THERMAL: "thermal_slowdown",
    POWER_BRAKE: "power_brake",
}

POWER_CAP = 0x4
LOW_CLOCK_FRACTION = 0.75
"""Of the nominal clock: what a power cap takes away on a healthy card stays above it, and so do the first
milliseconds after idling."""

_VOIDING_COUNTERS = {"thermal": "thermal_slowdown", "board_limit": "board_limit", "reliability": "reliability_limit"}


@dataclass
class Watch:
    """Samples of clock, power and throttle reasons, taken by a thread between ``with`` and its end.

    ``before``, ``after``: the state at the beginning and at the end, read by that thread too: the block need not wait
    for the one, and what else is read after it goes on beside the other. They are there after ``wait``.
    """

    gpu: Gpu
    before: Telemetry = field(default_factory=Telemetry)
    after: Telemetry = field(default_factory=Telemetry)
    clocks_hz: list[float] = field(default_factory=list)
    powers_w: list[float] = field(default_factory=list)
    reasons: int = 0

    def __enter__(self) -> "Watch":
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="solwatch-watch", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        if error is not None:
            self.wait()

    def wait(self) -> None:
        """Wait for the thread's last reading."""
        self._thread.join()

    @property
    def sm_clock_hz(self) -> float | None:
        """The mean clock that was seen, ``None`` without samples."""
        return sum(self.clocks_hz) / len(self.clocks_hz) if self.clocks_hz else None

    def _sample(self) -> None:
        self.before = self.gpu.telemetry()
        # The first reading comes a period late: at the very start the GPU may still be leaving idle.
        while not self._over.wait(PERIOD_S):
            clock_hz, power_w, reasons = self.gpu.instant()
            if clock_hz is not None:
                self.clocks_hz.append(clock_hz)
            if power_w is not None:
                self.powers_w.append(power_w)
            self.reasons |= reasons
        self.after = self.gpu.telemetry()


def low_clock(
    sm_clock_hz: float | None, nominal_hz: float | None, before: Telemetry, after: Telemetry, reasons: int
) -> bool:
    """Return whether the clock was far below ``nominal_hz`` and no power cap, by reason or counter, explains it."""
    if sm_clock_hz is None or nominal_hz is None or sm_clock_hz >= LOW_CLOCK_FRACTION * nominal_hz:
        return False
    capped = reasons | (before.throttle_reasons or 0) | (after.throttle_reasons or 0)
    return not capped & POWER_CAP and not _moved("power", before, after)


def void_reasons(before: Telemetry, after: Telemetry, watch: Watch) -> list[str]:
    """Return why a block can't be trusted by what the GPU said before, during and after it.

    ``telemetry_lost``: NVML stopped answering. ``ecc_error``: an uncorrected one came. The others: a slowdown
    that isn't a power cap, by its counter or by the reasons seen.
    """
    reasons = watch.reasons | (after.throttle_reasons or 0)
    found = {name for bit, name in _VOIDING.items() if reasons & bit}
    for counter, name in _VOIDING_COUNTERS.items():
        if _moved(counter, before, after):
            found.add(name)
    if before.ecc_errors is not None and (after.ecc_errors or 0) > before.ecc_errors:
        found.add("ecc_error")
    if watch.gpu.lost is not None:
        found.add("telemetry_lost")
    return sorted(found)


def _moved(counter: str, before: Telemetry, after: Telemetry) -> bool:
    last_s = after.violation_s.get(counter, 0.0)
    return last_s > before.violation_s.get(counter, last_s)
