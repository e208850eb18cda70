"""What a fork server does once: no CUDA, no crash without a GPU."""

import subprocess
import sys

import pytest
from fakes.nvml import FakeNvml

from solwatch.device import before_fork, kernels
from solwatch.device.resolving import visible_gpus


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


def compiler_that(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    def start(capability: tuple[int, int]) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-c", code, *map(str, capability)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    monkeypatch.setattr(before_fork, "_start_compiler", start)


def test_kernels_are_compiled_for_every_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, two_gpus())
    monkeypatch.setattr(kernels, "_CUBINS", {})
    compiler_that(monkeypatch, "import sys; sys.stdout.write('code for ' + ' '.join(sys.argv[1:]))")
    assert before_fork.warm_before_fork() == []
    assert kernels.compiled((8, 6)) == b"code for 8 6"
    assert kernels.compiled((9, 0)) == b"code for 9 0"


def test_a_compiler_that_fails_is_reported_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, two_gpus())
    monkeypatch.setattr(kernels, "_CUBINS", {})
    compiler_that(monkeypatch, "import sys; sys.exit('no compiler for ' + ' '.join(sys.argv[1:]))")
    assert before_fork.warm_before_fork() == ["no compiler for 8 6", "no compiler for 9 0"]
    assert kernels._CUBINS == {}


@pytest.mark.gpu
@pytest.mark.skipif(visible_gpus() == 0, reason="no GPU")
def test_a_process_forked_afterwards_can_use_the_gpu() -> None:
    code = (
        "import os\n"
        "from solwatch.device.before_fork import warm_before_fork\n"
        "assert warm_before_fork() == []\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    import torch\n"
        "    os._exit(0 if float(torch.ones(3, device='cuda').sum()) == 3 else 1)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_a_driver_there_is_nothing_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch, two_gpus())
    fake.vanished = True
    assert before_fork.gpu_capabilities() == set()
    assert before_fork.warm_before_fork() == []
