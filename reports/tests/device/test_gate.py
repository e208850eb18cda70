"""The gate in front of a stream, its watchdog, and the driver's errors, without a GPU."""

import time
from collections.abc import Callable

import pytest
from fakes.driver import FakeDriver

from solwatch.device import driver as driver_module
from solwatch.device import kernels, streams
from solwatch.device.driver import checked
from solwatch.device.kernels import compiled
from solwatch.device.streams import Gate
from solwatch.model.errors import MachineError

Install = Callable[[FakeDriver], FakeDriver]
CAPABLE = {"CAN_USE_STREAM_WAIT_VALUE_NOR": 1, "CAN_USE_STREAM_MEM_OPS_V1": 0}


class GateKernels:
    """Notes the gate kernels that would be launched."""

    def __init__(self) -> None:
        self.launched: list[tuple[str, int, int]] = []

    def gate(self, stream: str, flag: int, ticket: int) -> None:
        self.launched.append((stream, flag, ticket))


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    def installed(fake: FakeDriver) -> FakeDriver:
        for module in (driver_module, streams, kernels):
            monkeypatch.setattr(module, "driver", lambda: fake)
        return fake

    return installed


def gate(launched: GateKernels | None = None, watchdog_s: float = 60.0) -> Gate:
    return Gate(0, launched or GateKernels(), watchdog_s=watchdog_s)  # type: ignore[arg-type]


def wait_for(condition: Callable[[], bool], limit_s: float = 5.0) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(2e-3)
    return False


def test_every_hold_waits_for_the_next_ticket_and_release_writes_it(install: Install) -> None:
    fake = install(FakeDriver(**CAPABLE))
    closed = gate()
    for ticket in (1, 2, 3):
        closed.hold("stream")
        assert fake.calls[-1] == ("wait", "stream", 0xD0000, ticket)
        assert fake.word == ticket - 1
        closed.release()
        assert fake.word == ticket
    assert closed.opened_by_watchdog == 0


def test_a_device_that_cannot_wait_gets_a_kernel(install: Install) -> None:
    fake = install(FakeDriver(CAN_USE_STREAM_WAIT_VALUE_NOR=0, CAN_USE_STREAM_MEM_OPS_V1=0))
    launched = GateKernels()
    closed = gate(launched)
    closed.hold("stream")
    assert closed.waits_by_kernel
    assert launched.launched == [("stream", 0xD0000, 1)]
    assert fake.calls == []


def test_the_watchdog_opens_a_gate_that_nobody_opens(install: Install) -> None:
    fake = install(FakeDriver(**CAPABLE))
    closed = gate(watchdog_s=0.02)
    closed.hold("stream")
    assert wait_for(lambda: fake.word == 1)
    assert wait_for(lambda: closed.opened_by_watchdog == 1)


def test_the_watchdog_leaves_a_released_gate_alone(install: Install) -> None:
    fake = install(FakeDriver(**CAPABLE))
    closed = gate(watchdog_s=0.02)
    closed.hold("stream")
    closed.release()
    time.sleep(0.1)
    assert closed.opened_by_watchdog == 0
    assert fake.word == 1


def test_tickets_wrap_around(install: Install) -> None:
    fake = install(FakeDriver(**CAPABLE))
    closed = gate()
    closed._ticket = 0xFFFFFFFF
    closed.hold("stream")
    assert fake.calls[-1][-1] == 0
    closed.release()
    assert fake.word == 0


def test_a_failed_call_is_named_with_the_drivers_words(install: Install) -> None:
    install(FakeDriver(**CAPABLE))
    with pytest.raises(MachineError, match=r"cuEventSynchronize failed: CUDA_ERROR_LAUNCH_FAILED \(unspecified"):
        checked("cuEventSynchronize", "event")


def nvrtc_is_missing() -> bool:
    try:
        compiled((9, 0))
    except MachineError:
        return True
    return False


@pytest.mark.skipif(nvrtc_is_missing(), reason="NVRTC is not installed")
@pytest.mark.parametrize("capability", [(7, 5), (8, 0), (8, 9), (9, 0), (10, 0), (12, 0)])
def test_the_kernels_compile_without_a_gpu(capability: tuple[int, int]) -> None:
    assert compiled(capability).startswith(b"\x7fELF")


@pytest.mark.skipif(nvrtc_is_missing(), reason="NVRTC is not installed")
def test_a_chip_that_the_compiler_does_not_know_is_one_line() -> None:
    with pytest.raises(MachineError, match="for sm_11: ") as caught:
        compiled((1, 1))
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not nvrtc_is_missing(), reason="NVRTC is installed")
def test_a_missing_compiler_says_what_to_install() -> None:
    with pytest.raises(MachineError, match="pip install nvidia-cuda-nvrtc") as caught:
        compiled((9, 0))
    assert "\n" not in str(caught.value)
