"""Rounds with scripted workers: what is drawn, what is asked in which order, what is measured again, what is kept."""

import itertools
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from fakes.rounds import MORE, PLAN, A, B, C, FakeClock, measuring, run, when
from fakes.workers import FakeServer, FakeWorker, block, cells
from msgspec.structs import replace as replaced

from solwatch.app.foreign import FOREIGN_PROCESS
from solwatch.app.pairs import draw
from solwatch.app.rounds import VOID_RETRIES, Known
from solwatch.app.turns import FEWEST_TURNS, LONG_BLOCK_S, LONG_CALL_S, MOST_TURNS
from solwatch.model.protocol import Findings, Measure, Measured, Prepare
from solwatch.model.record import Failure

# --- what the coin and the draws decide -------------------------------------------------------------------------------


def test_the_coin_is_fair_and_follows_from_seed_and_index(rounds: Any) -> None:
    def slots(seed: int, count: int = 40) -> list[int]:
        runner = rounds(FakeServer(), seed=seed)
        return [run(runner, index, of=[]).head_slot for index in range(count)]

    first = slots(7)
    assert first == slots(7)
    assert first != slots(8)
    assert first == [draw(7, index).randrange(2) for index in range(40)]
    # 4000 throws: the standard deviation of their sum is 32; neighbours of a run and of a seed are independent
    throws = [[draw(seed, index).randrange(2) for index in range(40)] for seed in range(100)]
    assert abs(sum(map(sum, throws)) - 2000) < 4 * 32
    same_as_next = sum(one == two for row in throws for one, two in pairwise(row))
    assert abs(same_as_next - 1950) < 4 * 32


def test_head_gets_the_slot_that_the_coin_drew(rounds: Any) -> None:
    server = FakeServer()
    runner = rounds(server)
    for index in range(8):
        before = len(server.workers)
        head_slot = run(runner, index).head_slot
        assert server.workers[before + head_slot].side == "head"
        assert len(server.workers) == before + 2


def test_the_order_of_cells_is_drawn_anew_and_can_be_drawn_again(rounds: Any) -> None:
    def orders() -> list[str]:
        runner = rounds(FakeServer())
        return ["".join(cell.key for cell in run(runner, index, of=[A, B, C]).cells) for index in range(12)]

    first = orders()
    assert first == orders()
    assert len(set(first)) > 3
    assert {"".join(sorted(order)) for order in first} == {"abc"}


def test_the_order_inside_a_round_alternates_by_turn_cell_and_round(rounds: Any) -> None:
    server = FakeServer()
    runner = rounds(server)

    def starts(index: int) -> list[str]:
        server.asked.clear()
        run(runner, index, of=[A, B], plan=replace(PLAN, turns=4))
        return [str(server.workers.index(worker) % 2) for worker, asked in server.asked if isinstance(asked, Measure)]

    assert "".join(starts(0)) == "01100110" + "10011001"
    assert "".join(starts(1)) == "10011001" + "01100110"


def test_both_sides_get_the_same_data_and_each_round_another(rounds: Any) -> None:
    server = FakeServer()
    runner = rounds(server, seed=7)
    for index in range(3):
        run(runner, index)
    assert [request.seed for request in server.requests(Prepare)] == [7, 7, 8, 8, 9, 9]


# --- what is handed from round to round -------------------------------------------------------------------------------


def test_a_look_and_a_check_are_done_once_a_side_and_handed_on(rounds: Any) -> None:
    server = FakeServer()
    runner = rounds(server)
    for index in range(3):
        run(runner, index)
    for side in ("head", "base"):
        first, *later = server.requests(Prepare, side)
        assert (first.check, first.findings) == (True, None)
        assert [(asked.check, asked.findings) for asked in later] == [
            (False, Findings(timer="held", launches=1))
        ] * 2  # fmt: skip


def test_a_timer_that_fell_back_in_a_block_is_remembered_for_that_side(rounds: Any) -> None:
    server = FakeServer(measuring(block(timer="events", fallback="the gate was opened by its watchdog"), side="head"))
    runner = rounds(server)
    run(runner, 0, plan=replace(PLAN, turns=1))
    run(runner, 1)
    assert server.requests(Prepare, "head")[1].findings.timer == "events"
    assert "watchdog" in server.requests(Prepare, "head")[1].findings.fallback
    assert server.requests(Prepare, "base")[1].findings.timer == "held"


def test_a_failure_is_not_tried_again_in_later_rounds_and_the_other_side_is_measured(rounds: Any) -> None:
    wrong = Failure(kind="wrong", message="y[0] is 1, wanted 2")
    server = FakeServer(when(Prepare, wrong, side="head"))
    runner = rounds(server)
    for index in range(3):
        (cell,) = run(runner, index).cells
        assert cell.head.failure == wrong
        assert cell.base is not None
        assert len(cell.base.blocks) == 2
    assert len(server.requests(Prepare, "head")) == 1


# --- blocks that are void ---------------------------------------------------------------------------------------------


def test_a_void_block_is_measured_again_and_both_are_kept(rounds: Any) -> None:
    server = FakeServer(measuring(block("thermal_slowdown"), side="head"))
    (cell,) = run(rounds(server)).cells
    assert [found.voids for found in cell.head.blocks] == [["thermal_slowdown"], [], []]
    assert cell.base is not None
    assert [found.voids for found in cell.base.blocks] == [[], []]


def test_a_card_that_never_gets_well_does_not_loop_for_ever(rounds: Any) -> None:
    server = FakeServer(when(Measure, Measured(block=block("low_clock")), side="head"))
    (cell,) = run(rounds(server)).cells
    assert len(cell.head.blocks) == PLAN.turns * (1 + VOID_RETRIES)


@pytest.mark.parametrize("lasting", ["telemetry_lost", "never_warm"])
def test_what_a_second_try_can_not_mend_is_not_tried_again(rounds: Any, lasting: str) -> None:
    server = FakeServer(when(Measure, Measured(block=block("thermal_slowdown", lasting))))
    (cell,) = run(rounds(server)).cells
    assert len(cell.head.blocks) == PLAN.turns


def test_nothing_is_measured_again_beyond_the_budget(rounds: Any) -> None:
    server = FakeServer(when(Measure, Measured(block=block("low_clock"))))
    runner = rounds(server, clock=FakeClock(step_s=1.0))
    (cell,) = run(runner, plan=replace(PLAN, retry_until_s=1.0)).cells
    assert len(cell.head.blocks) == PLAN.turns


def test_a_foreign_process_voids_and_ours_never_do(rounds: Any) -> None:
    server = FakeServer()

    def everybody(worker: FakeWorker, request: Any) -> Any:
        others = [pid for pid in server.pids if pid != worker.pid]
        strangers = [4711] if worker.side == "base" else []
        return Measured(block=block(other_processes=others + strangers)) if isinstance(request, Measure) else None

    server.script = everybody
    (cell,) = run(rounds(server), plan=MORE).cells  # the next pair's processes are there too
    assert len(server.workers) == 4
    assert [found.voids for found in cell.head.blocks] == [[], []]
    assert cell.base is not None
    assert {tuple(found.voids) for found in cell.base.blocks} == {(FOREIGN_PROCESS,)}
    assert len(cell.base.blocks) == PLAN.turns * (1 + VOID_RETRIES)


@pytest.mark.parametrize(("beyond", "voids"), [(0, []), (1, [FOREIGN_PROCESS])])
def test_processes_without_names_count_only_beyond_ours(rounds: Any, beyond: int, voids: list[str]) -> None:
    server = FakeServer()

    def crowd(worker: FakeWorker, request: Any) -> Any:
        listed = len(server.running) + beyond
        return Measured(block=block(unnamed_processes=listed)) if isinstance(request, Measure) else None

    server.script = crowd
    runner = rounds(server)
    for index in range(2):  # ended processes of the first round are no longer ours to count
        (cell,) = run(runner, index, plan=MORE if index == 0 else PLAN).cells
        assert cell.head.blocks[0].voids == voids


# --- turns ------------------------------------------------------------------------------------------------------------


def measured_for(server: FakeServer) -> list[float]:
    """Return the lengths of the blocks that head was asked for since the last look."""
    wanted = [asked.target_s for worker, asked in server.asked if isinstance(asked, Measure) and worker.side == "head"]
    server.asked.clear()
    return wanted


def test_a_cell_that_scatters_takes_more_turns_and_a_quiet_one_fewer(rounds: Any) -> None:
    def script(scatter: list[float]) -> Any:
        factors = itertools.cycle(scatter)

        def answer(worker: FakeWorker, request: Any) -> Any:
            if not isinstance(request, Measure):
                return None
            return Measured(block=replaced(block(), samples_s=[1e-5 * next(factors)]))

        return answer

    for scatter, turns in (([1.0, 1.01, 0.99, 1.0, 1.02, 1.0, 1.01], MOST_TURNS), ([1.0], FEWEST_TURNS)):
        server = FakeServer(script(scatter))
        runner = rounds(server)
        run(runner, 0, plan=replace(MORE, turns=4, adapts=True))
        assert len(measured_for(server)) == 4
        run(runner, 1, plan=replace(PLAN, turns=4, adapts=True))
        assert len(measured_for(server)) == turns


def test_without_leave_to_adapt_the_plan_is_kept(rounds: Any) -> None:
    server = FakeServer()
    runner = rounds(server)
    for index in range(2):
        run(runner, index)
        assert len(measured_for(server)) == PLAN.turns


def test_long_calls_take_many_short_blocks_from_the_start(rounds: Any) -> None:
    for call_s, wanted in ((LONG_CALL_S, [LONG_BLOCK_S] * MOST_TURNS), (LONG_CALL_S / 2, [0.01] * 4)):
        server = FakeServer(call_s=call_s)
        run(rounds(server), plan=replace(PLAN, turns=4, adapts=True))
        assert measured_for(server) == wanted


def test_what_one_runner_learns_another_one_knows(rounds: Any) -> None:
    known = Known()
    first, second = FakeServer(), FakeServer()
    run(rounds(first, known=known), 0)
    run(rounds(second, known=known), 1)
    checks = [[asked.check for _, asked in server.asked if isinstance(asked, Prepare)] for server in (first, second)]
    assert checks == [[True, True], [False, False]]


# --- energy -----------------------------------------------------------------------------------------------------------


def test_energy_is_read_where_asked_and_for_cells_that_have_work(rounds: Any) -> None:
    server = FakeServer()
    plan = replace(PLAN, energy_s=0.5)
    suite, plain = run(rounds(server, base=None), of=[A, *cells("plain", kind="asv")], plan=plan).cells
    if suite.key != "a":
        suite, plain = plain, suite
    assert (suite.head.hot_s, plain.head.hot_s) == (1e-5, None)
    assert suite.base is None


# --- clocks -----------------------------------------------------------------------------------------------------------


def test_a_date_that_steps_back_and_a_clock_that_stands_still_change_nothing(rounds: Any) -> None:
    server = FakeServer(when(Measure, Measured(block=block("low_clock"))))
    runner = rounds(server, clock=FakeClock(step_s=0.0))
    one, two = (run(runner, index, plan=replace(MORE, retry_until_s=1.0)) for index in range(2))
    assert one.started_at > two.started_at
    assert (one.wall_s, one.opening_s, two.wall_s) == (0.0, 0.0, 0.0)
    assert len(two.cells[0].head.blocks) == PLAN.turns * (1 + VOID_RETRIES)
