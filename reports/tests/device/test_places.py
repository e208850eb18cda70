"""What a request for GPUs means on a machine."""

import pytest

from solwatch.device import places
from solwatch.device.places import Place, places_of
from solwatch.model.errors import MachineError, RequestError
from solwatch.model.record import GpuIdentity

UUIDS = ["GPU-a", "GPU-b", "GPU-c"]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    has(monkeypatch, 3, UUIDS)
    return monkeypatch


def has(monkeypatch: pytest.MonkeyPatch, count: int, uuids: list[str]) -> None:
    monkeypatch.setattr(places, "visible_gpus", lambda: count)
    monkeypatch.setattr("solwatch.device.resolving.visible_gpus", lambda: count)
    monkeypatch.setattr(places, "visible_uuids", lambda: uuids)


def gpu(index: int) -> Place:
    return Place(device=f"cuda:{index}", gpu=GpuIdentity(index=index, uuid=UUIDS[index]))


@pytest.mark.parametrize(
    ("device", "gpus", "meant"),
    [
        ("auto", "all", [0, 1, 2]),
        ("auto", "0,2", [0, 2]),
        ("auto", "2,0,2", [0, 2]),
        ("auto", "1", [1]),
        ("auto", None, [0]),
        ("cuda:2", None, [2]),
    ],
)
def test_every_gpu_some_or_one(device: str, gpus: str | None, meant: list[int]) -> None:
    assert places_of(device, gpus) == [gpu(index) for index in meant]


@pytest.mark.parametrize(
    ("device", "gpus", "said"),
    [
        ("auto", "0,3", r"--gpus 0,3: 3 GPU\(s\) are visible, the first is 0"),
        ("auto", "two", "give all, or indices"),
        ("auto", "0,", "give all, or indices"),
        ("auto", "", "give all, or indices"),
        ("cuda:1", "all", "give one of them"),
        ("cpu", "0", "give one of them"),
    ],
)
def test_gpus_that_are_not_there_or_make_no_sense_are_refused(device: str, gpus: str, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        places_of(device, gpus)


def test_a_machine_that_has_no_gpu_or_can_not_tell_them_apart(machine: pytest.MonkeyPatch) -> None:
    has(machine, 2, [])
    with pytest.raises(MachineError, match=r"names 0 of the 2 GPU\(s\)"):
        places_of("auto", "all")
    assert places_of("auto", "1") == [Place(device="cuda:1", gpu=GpuIdentity(index=1, uuid=None))]
    has(machine, 0, [])
    with pytest.raises(MachineError, match="no GPU is visible"):
        places_of("auto", "all")
    assert places_of("auto") == [Place(device="cpu")]
