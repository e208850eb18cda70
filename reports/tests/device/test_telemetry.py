"""What NVML says, what it doesn't say, and what of it voids a block."""

import os
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from fakes.nvml import FakeNvml

from solwatch.device import nvml as nvml_module
from solwatch.device.nvml import Gpu
from solwatch.device.watching import Watch, void_reasons
from solwatch.model.record import Telemetry

Install = Callable[[FakeNvml], FakeNvml]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    def installed(fake: FakeNvml) -> FakeNvml:
        monkeypatch.setattr(nvml_module, "nvml", lambda: fake)
        return fake

    return installed


def test_units_are_si(install: Install) -> None:
    install(FakeNvml())
    telemetry = Gpu("GPU-1").telemetry()
    assert telemetry.sm_clock_hz == 1.98e9
    assert telemetry.memory_clock_hz == 3.201e9
    assert telemetry.power_w == pytest.approx(650)
    assert telemetry.energy_j is None
    assert Gpu("GPU-1").energy_j() == pytest.approx(12.345)
    assert telemetry.temperature_c == 54
    assert telemetry.throttle_reasons == 4
    assert telemetry.utilization == 0.75
    assert telemetry.violation_s == {"power": 1.0, "thermal": 2.0, "board_limit": 3.0, "reliability": 4.0}


def test_what_is_not_supported_is_absent_and_no_loss(install: Install) -> None:
    install(FakeNvml())
    gpu = Gpu("GPU-1")
    assert gpu.telemetry().ecc_errors is None
    assert gpu.fingerprint(model="Example", cuda="13.0", torch="2.13").vbios is None
    assert gpu.lost is None


def test_a_counter_that_is_not_supported_is_left_out(install: Install) -> None:
    def fields(handle: str, asked: list[int]) -> list[SimpleNamespace]:
        return [SimpleNamespace(nvmlReturn=3 * (n == 1), value=SimpleNamespace(ullVal=10**9)) for n in asked]

    install(FakeNvml(nvmlDeviceGetFieldValues=fields))
    assert set(Gpu("GPU-1").telemetry().violation_s) == {"thermal", "board_limit", "reliability"}


def test_a_library_that_vanishes_leaves_fields_empty_and_voids(install: Install) -> None:
    fake = install(FakeNvml())
    gpu = Gpu("GPU-1")
    before = gpu.telemetry()
    fake.vanished = True
    after = gpu.telemetry()
    assert (after.sm_clock_hz, after.power_w, after.violation_s) == (None, None, {})
    assert gpu.lost is not None
    assert "GPU is lost" in gpu.lost
    assert void_reasons(before, after, Watch(gpu)) == ["telemetry_lost"]
    assert gpu.fingerprint(model="Example", cuda=None, torch=None).driver is None


def test_a_library_that_is_not_there_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise OSError("libnvidia-ml.so.1 not found")

    monkeypatch.setattr(nvml_module, "nvml", missing)
    gpu = Gpu("GPU-1")
    assert gpu.lost == "OSError: libnvidia-ml.so.1 not found"
    assert gpu.telemetry() == Telemetry()
    assert gpu.instant() == (None, None, 0)
    assert gpu.maximum_clocks_hz() == (None, None)
    assert gpu.fingerprint(model="Example", cuda=None, torch=None).model == "Example"


def test_other_processes_are_those_that_are_not_this_one(install: Install) -> None:
    install(FakeNvml())
    assert Gpu("GPU-1").processes(own=lambda: 20) == ([10, 30], None)


def test_process_ids_of_another_name_space_mean_nothing(install: Install) -> None:
    install(FakeNvml())
    assert Gpu("GPU-1").processes(own=lambda: 999) == ([], 3)


def test_the_fingerprint_has_what_must_be_equal(install: Install) -> None:
    install(
        FakeNvml(
            nvmlDeviceGetName=lambda handle: b"NVIDIA H200",
            nvmlDeviceGetVbiosVersion=lambda handle: "96.00",
            nvmlDeviceGetEnforcedPowerLimit=lambda handle: 700_000,
            nvmlDeviceGetEccMode=lambda handle: [1, 1],
            nvmlDeviceGetApplicationsClock=lambda handle, kind: 1500,
            nvmlDeviceGetDefaultApplicationsClock=lambda handle, kind: 1980,
        )
    )
    fingerprint = Gpu("GPU-1").fingerprint(model="-", cuda="13.0", torch="2.13")
    assert fingerprint.model == "NVIDIA H200"
    assert fingerprint.power_limit_w == 700
    assert fingerprint.ecc is True
    assert fingerprint.clock_lock == "application clock 1500 MHz"
    assert (fingerprint.driver, fingerprint.vbios, fingerprint.uuid) == ("580.1", "96.00", "GPU-1")


def test_a_watch_samples_while_the_block_runs(install: Install) -> None:
    clocks = iter([1800, 3201, 1900, 2000])  # SM and memory at the beginning, then the SM's
    install(FakeNvml(nvmlDeviceGetClockInfo=lambda handle, kind: next(clocks, 1950)))
    with Watch(Gpu("GPU-1")) as watch:
        deadline = time.monotonic() + 5
        while len(watch.clocks_hz) < 4 and time.monotonic() < deadline:
            time.sleep(1e-3)
    watch.wait()
    seen = len(watch.clocks_hz)
    assert seen >= 4
    assert watch.before.sm_clock_hz == 1.8e9
    assert watch.clocks_hz[:3] == [1.9e9, 2.0e9, 1.95e9]
    assert watch.sm_clock_hz == pytest.approx(1.95e9)
    assert watch.after.sm_clock_hz == 1.95e9
    assert watch.reasons == 4
    time.sleep(0.02)
    assert len(watch.clocks_hz) == seen


def watched(reasons: int = 0) -> Watch:
    gpu = SimpleNamespace(lost=None)
    return Watch(gpu, reasons=reasons)  # type: ignore[arg-type]  # void_reasons only asks whether it is lost


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        (0x0, []),
        (0x1 | 0x2 | 0x4 | 0x10, []),  # idle, application clocks, power cap, sync boost
        (0x8, ["hardware_slowdown"]),
        (0x20, ["thermal_slowdown"]),
        (0x40 | 0x4, ["thermal_slowdown"]),
        (0x80 | 0x8, ["hardware_slowdown", "power_brake"]),
    ],
)
def test_only_slowdowns_that_are_no_power_cap_void(reasons: int, expected: list[str]) -> None:
    assert void_reasons(Telemetry(), Telemetry(), watched(reasons)) == expected
    assert void_reasons(Telemetry(), Telemetry(throttle_reasons=reasons), watched()) == expected


def test_counters_void_by_their_growth_alone() -> None:
    old = Telemetry(violation_s={"thermal": 3.0, "power": 5.0}, ecc_errors=2)
    assert void_reasons(old, old, watched()) == []
    assert void_reasons(old, Telemetry(violation_s={"thermal": 3.0, "power": 9.0}, ecc_errors=2), watched()) == []
    new = Telemetry(violation_s={"thermal": 3.1, "power": 5.0}, ecc_errors=3)
    assert void_reasons(old, new, watched()) == ["ecc_error", "thermal_slowdown"]


def test_a_counter_that_was_not_there_before_is_no_growth() -> None:
    assert void_reasons(Telemetry(), Telemetry(violation_s={"thermal": 7.0}), watched()) == []


def test_this_process_is_the_default_of_other_processes(install: Install) -> None:
    own = os.getpid()
    install(
        FakeNvml(
            nvmlDeviceGetComputeRunningProcesses=lambda handle: [SimpleNamespace(pid=own), SimpleNamespace(pid=own + 1)]
        )
    )
    assert Gpu("GPU-1").processes() == ([own + 1], None)
