"""What a fork server does once: no CUDA, no crash without a GPU."""

import sys

import pytest
from fakes.nvml import FakeNvml

from solwatch.device import before_fork
from solwatch.model.errors import MachineError


def install(monkeypatch: pytest.MonkeyPatch, fake: FakeNvml) -> FakeNvml:
    monkeypatch.setitem(sys.modules, "pynvml", fake)  # type: ignore[arg-type]  # stands in for the module
    return fake


def two_gpus() -> FakeNvml:
    calls = {"nvmlInit": lambda: None, "nvmlShutdown": lambda: None, "nvmlDeviceGetCount": lambda: 2}
    return FakeNvml(
        **calls,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetCudaComputeCapability=lambda handle: [(9, 0), (8, 6)][handle],
    )


def test_kernels_are_compiled_for_every_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, two_gpus())
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(before_fork, "compiled", lambda capability: asked.append(capability) or b"")
    assert before_fork.warm_before_fork() == []
    assert asked == [(8, 6), (9, 0)]


def test_a_compiler_that_fails_is_reported_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, two_gpus())

    def fails(capability: tuple[int, int]) -> bytes:
        raise MachineError(f"no compiler for {capability}")

    monkeypatch.setattr(before_fork, "compiled", fails)
    assert before_fork.warm_before_fork() == ["no compiler for (8, 6)", "no compiler for (9, 0)"]


def test_without_a_driver_there_is_nothing_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch, two_gpus())
    fake.vanished = True
    assert before_fork.gpu_capabilities() == set()
    assert before_fork.warm_before_fork() == []
