"""Pairs of processes with scripted workers: started ahead, replaced when they end, and none left by an interruption."""

import threading
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from fakes.records import H200
from fakes.rounds import MORE, A, B, run, when
from fakes.workers import DIED, FakeServer, FakeWorker

from solwatch.app.pairs import draw
from solwatch.model.errors import MachineError
from solwatch.model.protocol import Discover, Measure, MeasureEnergy, Open, Opened, Prepare, Release, Released
from solwatch.model.record import Failure

# --- the next pair ----------------------------------------------------------------------------------------------------


def test_on_a_gpu_the_next_pair_is_started_ahead_and_opened_only_after_measuring(rounds: Any) -> None:
    there: list[int] = []
    server = FakeServer(lambda worker, request: there.append(len(server.workers)) if type(request) is Measure else None)
    runner = rounds(server)
    run(runner, 0, plan=MORE)
    assert set(there) == {4}
    run(runner, 1)
    assert len(server.workers) == 4
    ahead = server.workers[2:]
    opened = [at for at, (worker, asked) in enumerate(server.asked) if worker in ahead and isinstance(asked, Open)]
    measured = [
        at for at, (worker, asked) in enumerate(server.asked) if worker not in ahead and isinstance(asked, Measure)
    ]
    assert len(opened) == 2
    assert min(opened) > max(measured)
    assert [server.workers.index(worker) for worker, asked in server.asked if isinstance(asked, Open)][:2] != [2, 3]


def test_on_a_cpu_no_process_is_started_beside_those_that_are_measured(rounds: Any) -> None:
    server = FakeServer()
    there: list[int] = []

    def counting(worker: FakeWorker, request: Any) -> None:
        if isinstance(request, Measure):
            there.append(len(server.workers))

    server.script = counting
    runner = rounds(server, device="cpu")
    run(runner, 0, plan=MORE)
    run(runner, 1)
    assert set(there) == {2, 4}
    assert len(server.workers) == 4


def test_a_pair_for_a_round_that_never_comes_is_ended(rounds: Any) -> None:
    server = FakeServer()
    run(rounds(server), 0, plan=MORE)
    assert len(server.workers) == 4  # the fixture closes the runner and looks for processes that are left


def test_a_pair_for_another_round_is_not_taken(rounds: Any) -> None:
    server = FakeServer()
    runner = rounds(server)
    run(runner, 0, plan=MORE)
    head_slot = run(runner, 5).head_slot
    assert head_slot == draw(7, 5).randrange(2)
    assert [worker.alive for worker in server.workers] == [False] * 6


# --- processes that end -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [Discover, Open, Prepare, Measure, MeasureEnergy, Release])
@pytest.mark.parametrize("side", ["head", "base"])
def test_a_process_that_is_killed_in_any_phase_is_replaced(rounds: Any, phase: type[Any], side: str) -> None:
    server = FakeServer(when(phase, DIED, side=side, times=1))
    runner = rounds(server)
    plan = replace(MORE, energy_s=0.5)
    for index in range(2):
        found = run(runner, index, of=[A, B], plan=plan)
        for cell in found.cells:
            assert cell.base is not None
            assert (cell.head.failure, cell.base.failure) == (None, None)
            assert (len(cell.head.blocks), len(cell.base.blocks)) == (2, 2)


@pytest.mark.parametrize("phase", [Prepare, Measure])
def test_a_cell_that_ends_its_process_twice_is_given_up_and_the_others_are_measured(
    rounds: Any, phase: type[Any]
) -> None:
    current: dict[int, str] = {}

    def crashes_at_a(worker: FakeWorker, request: Any) -> Any:
        if isinstance(request, Prepare):
            current[worker.pid] = request.key
        at_a = worker.side == "head" and current.get(worker.pid) == "a"
        return DIED if at_a and isinstance(request, phase) else None

    server = FakeServer(crashes_at_a)
    runner = rounds(server)
    for index in range(2):
        by_key = {cell.key: cell for cell in run(runner, index, of=[A, B]).cells}
        failure = by_key["a"].head.failure
        assert failure is not None
        assert (failure.kind, failure.message) == ("died", f"twice: {DIED.message}")
        assert by_key["b"].head.failure is None
    assert [request.key for request in server.requests(Prepare, "head")].count("a") == 2


@pytest.mark.parametrize("kind", ["out_of_memory", "hung", "raised", "wrong"])
def test_a_failure_on_one_side_costs_that_sides_cell_alone(rounds: Any, kind: str) -> None:
    failure = Failure(kind=kind, message="as scripted")
    server = FakeServer(when(Measure, failure, side="base", times=1))
    first, second = run(rounds(server), of=[A, B]).cells
    assert first.base is not None
    assert second.base is not None
    assert (first.head.failure, first.base.failure, second.base.failure) == (None, failure, None)
    assert (len(first.head.blocks), len(first.base.blocks), len(second.base.blocks)) == (2, 0, 2)
    assert len([worker for worker in server.workers if worker.side == "base"]) == 2  # the damaged one and a fresh one


@pytest.mark.parametrize("phase", [Discover, Open])
def test_a_process_that_can_not_be_opened_is_ended(rounds: Any, phase: type[Any]) -> None:
    server = FakeServer(when(phase, Failure(kind="raised", message="no driver"), side="head"))
    runner = rounds(server)
    (cell,) = run(runner).cells
    assert cell.head.failure is not None
    assert [worker.alive for worker in server.workers] == [False, False]


def test_threads_that_a_cell_leaves_cost_both_sides_their_process(rounds: Any) -> None:
    server = FakeServer(when(Release, Released(threads_left=1), side="head", times=1))
    run(rounds(server), of=[A, B])
    assert [worker.side for worker in server.workers].count("head") == 2
    assert [worker.side for worker in server.workers].count("base") == 2


@pytest.mark.parametrize("driver", ["590.1", None])  # updated, and NVML that answers no more
def test_another_device_than_before_ends_the_round_and_every_process(rounds: Any, driver: str | None) -> None:
    server = FakeServer()
    runner = rounds(server)
    run(runner, 0)
    server.script = when(Open, Opened(cells=[], fingerprint=msgspec.structs.replace(H200, driver=driver)), side="base")
    with pytest.raises(MachineError, match=rf"changed while measuring \(driver: .*580.159.03.* != .*{driver}"):
        run(runner, 1, plan=MORE)  # the fixture looks for processes that are left, of this pair and the next


# --- interruptions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [Prepare, Measure, MeasureEnergy, Release])
def test_an_interruption_in_any_phase_ends_every_process(rounds: Any, phase: type[Any]) -> None:
    server = FakeServer(when(phase, KeyboardInterrupt()))
    runner = rounds(server)
    with pytest.raises(KeyboardInterrupt):
        run(runner, of=[A, B], plan=replace(MORE, energy_s=0.5))
    assert [worker.alive for worker in server.workers[:2]] == [False, False]


def test_an_interruption_while_a_pair_is_waited_for_ends_it(rounds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    server = FakeServer()
    runner = rounds(server)
    monkeypatch.setattr("solwatch.app.pairs.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(runner)
    assert len(server.workers) == 2  # the fixture closes the runner and looks for processes that are left


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MachineError("the fork server is gone")])
def test_an_end_between_two_forks_ends_those_that_were_forked(rounds: Any, number: int, error: BaseException) -> None:
    server = FakeServer()
    fork = server.fork

    def interrupted(*arguments: Any, **options: Any) -> FakeWorker:
        if len(server.workers) == number - 1:
            raise error
        return fork(*arguments, **options)

    server.fork = interrupted
    runner = rounds(server)
    with pytest.raises(type(error)):
        run(runner, plan=MORE)
    assert len(server.workers) == number - 1


def test_a_pair_that_still_opens_is_ended_without_waiting_for_it(rounds: Any) -> None:
    server = FakeServer()
    killed = threading.Event()

    def silent(worker: FakeWorker, request: Any) -> Any:
        if worker in server.workers[2:] and isinstance(request, Discover):
            return DIED if killed.wait(10) else AssertionError("nobody killed it")
        return None

    kill = FakeWorker.kill

    def noted(worker: FakeWorker) -> None:
        kill(worker)
        killed.set()

    server.script = silent
    runner = rounds(server)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(FakeWorker, "kill", noted)
        run(runner, 0, plan=MORE)
        runner.__exit__(None, None, None)
    assert killed.is_set()
