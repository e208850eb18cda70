"""Processes that number the GPUs of a host differently, and the one lock that a GPU has."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.cuda_driver import fake_driver, uuid_of

from solwatch.app.device_lock import device_lock
from solwatch.device.places import Place
from solwatch.model.record import GpuIdentity

HOLD = """
import sys
from solwatch.app.device_lock import device_lock
from solwatch.device.cuda_uuids import visible_uuids
from solwatch.device.places import Place
from solwatch.model.record import GpuIdentity
uuids = visible_uuids()
places = [Place(device=f"cuda:{i}", gpu=GpuIdentity(index=i, uuid=uuids[i])) for i in map(int, sys.argv[1:])]
with device_lock(places, lambda text: print(text, flush=True)):
    print("held", flush=True)
    sys.stdin.read()
"""
NAME = "import solwatch.device.cuda_uuids as c; print(*c.visible_uuids())"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_driver(tmp_path_factory.mktemp("driver"))


class Processes:
    """Python processes on one host: a driver that shows them GPUs, a temporary folder that they share."""

    def __init__(self, library: Path, scratch: Path) -> None:
        self._environment = {**os.environ, "LD_LIBRARY_PATH": str(library), "TMPDIR": str(scratch)}
        self._environment.pop("FAKE_GPUS", None)
        self.running: list[subprocess.Popen[str]] = []

    def start(self, code: str, *arguments: str, gpus: str | None) -> "subprocess.Popen[str]":
        shown = {} if gpus is None else {"FAKE_GPUS": gpus}
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            env=self._environment | shown,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.running.append(process)
        return process

    def says(self, process: "subprocess.Popen[str]") -> str:
        assert process.stdout is not None
        return process.stdout.readline().rstrip("\n")


@pytest.fixture
def host(library: Path, tmp_path: Path) -> Iterator[Processes]:
    processes = Processes(library, tmp_path)
    yield processes
    for process in processes.running:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("gpus", "named"),
    [("ab", [uuid_of("a"), uuid_of("b")]), ("b ma", [uuid_of("b"), uuid_of("a", kind="MIG")]), ("", []), (None, [])],
)
def test_gpus_are_named_in_the_order_that_the_driver_shows(host: Processes, gpus: str | None, named: list[str]) -> None:
    assert host.says(host.start(NAME, gpus=gpus)).split() == named


def test_the_same_gpu_under_another_number_is_waited_for_and_another_gpu_is_not(host: Processes) -> None:
    first = host.start(HOLD, "0", gpus="ab")
    assert host.says(first) == "held"
    same = host.start(HOLD, "1", gpus="ba")
    assert host.says(same) == f"waiting for cuda:1 ({uuid_of('a')}): process {first.pid} is measuring on it"
    assert host.says(host.start(HOLD, "0", gpus="ba")) == "held"
    assert same.poll() is None
    first.communicate()
    assert host.says(same) == "held"


def test_several_gpus_asked_for_in_opposite_orders_never_wait_for_each_other_for_ever(host: Processes) -> None:
    for _ in range(3):
        one, two = host.start(HOLD, "0", "1", gpus="ab"), host.start(HOLD, "0", "1", gpus="ba")
        for process in (one, two):
            assert process.stdin is not None
            process.stdin.close()
        for process in (one, two):
            assert process.stdout is not None
            assert process.stdout.read().endswith("held\n")
            assert process.wait(timeout=30) == 0


def test_one_device_named_twice_is_locked_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cpu = Place(device="cpu")
    unnamed = Place(device="cuda:1", gpu=GpuIdentity(index=1, uuid=None))
    with device_lock([cpu, cpu, unnamed], print):
        locks = tmp_path / "solwatch-locks"
        assert sorted(path.name for path in locks.iterdir()) == ["cpu.lock", "cuda-1.lock"]
