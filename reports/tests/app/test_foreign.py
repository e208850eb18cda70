"""Other people's processes: refused before measuring, void while measuring, and never our own."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from fakes.nvml import FakeNvml

from solwatch.app.foreign import FOREIGN_PROCESS, FREE_WITHIN_S, require_free, with_foreign_processes
from solwatch.device import nvml as nvml_module
from solwatch.device.places import Place
from solwatch.model.errors import MachineError
from solwatch.model.record import Block, GpuIdentity, Telemetry

GPU = Place(device="cuda:1", gpu=GpuIdentity(index=1, uuid="GPU-1"))


def install(monkeypatch: pytest.MonkeyPatch, pids: list[list[int]], utilization: list[int]) -> None:
    """Answer with one after the other of ``pids`` and ``utilization``, the last for ever."""

    def turns(values: list[Any]) -> Iterator[Any]:
        yield from values
        while True:
            yield values[-1]

    running, busy = turns(pids), turns(utilization)
    fake = FakeNvml(
        nvmlDeviceGetComputeRunningProcesses=lambda handle: [SimpleNamespace(pid=pid) for pid in next(running)],
        nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=next(busy)),
    )
    monkeypatch.setattr(nvml_module, "nvml", lambda: fake)


@pytest.mark.parametrize(
    ("pids", "utilization", "said"),
    [([4711], 0, "1 process"), ([], 97, "97 % busy with work of others")],
)
def test_a_gpu_that_others_use_is_refused(
    monkeypatch: pytest.MonkeyPatch, pids: list[int], utilization: int, said: str
) -> None:
    install(monkeypatch, [pids], [utilization])
    slept: list[float] = []
    with pytest.raises(MachineError, match="cuda:1 is in use") as refused:
        require_free(GPU, sleep=slept.append)
    assert said in str(refused.value)
    assert sum(slept) == pytest.approx(FREE_WITHIN_S)


def test_what_a_process_that_has_just_ended_leaves_behind_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, [[4711], []], [80, 40, 3])
    slept: list[float] = []
    require_free(GPU, sleep=slept.append)
    assert len(slept) == 2


def test_a_cpu_and_a_gpu_that_can_not_be_asked_are_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, [[4711]], [99])
    require_free(Place(device="cpu"))
    require_free(Place(device="cuda:0", gpu=GpuIdentity(index=0, uuid=None)))


def block(**telemetry: Any) -> Block:
    return Block(samples_s=[1e-5], null_s=[], number=1, timer="held", after=Telemetry(**telemetry))


def server(pids: set[int], running: set[int]) -> Any:
    return SimpleNamespace(pids=pids, running=running)


def test_our_own_processes_on_both_sides_are_not_foreign() -> None:
    found = with_foreign_processes(block(other_processes=[10, 20]), [server({10}, {10}), server({20}, set())])
    assert (found.voids, found.after and found.after.other_processes) == ([], [])


def test_a_foreign_process_voids_the_block_and_is_named() -> None:
    found = with_foreign_processes(block(other_processes=[10, 4711]), [server({10}, {10})])
    assert (found.voids, found.after and found.after.other_processes) == ([FOREIGN_PROCESS], [4711])


def test_a_foreign_process_that_ended_within_the_block_voids_it_too() -> None:
    ended = msgspec.structs.replace(block(), before=Telemetry(other_processes=[10, 4711]))
    found = with_foreign_processes(ended, [server({10}, {10})])
    assert (found.voids, found.before and found.before.other_processes) == ([FOREIGN_PROCESS], [4711])


@pytest.mark.parametrize(("listed", "voids"), [(1, []), (2, []), (3, [FOREIGN_PROCESS])])
def test_where_ids_are_hidden_more_processes_than_ours_are_foreign(listed: int, voids: list[str]) -> None:
    assert with_foreign_processes(block(unnamed_processes=listed), [server({1, 2}, {1, 2})]).voids == voids
