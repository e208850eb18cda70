"""From gates to an answer: the gate that is next, the commit of each cell, histories that turn back."""

import math

import pytest
from fakes.bisections import NO_BUILD, UNDECIDED, World, asked, figure, past
from hypothesis import given
from hypothesis import strategies as st

from solwatch.judge.bisecting import concluded
from solwatch.model.bisection import Figure, Found, State
from solwatch.model.errors import ExitCode
from solwatch.model.verdict import Reason, Verdict


def jump(count: int, at: int, by: float = 1.05) -> list[float]:
    return [1.0] * at + [by] * (count - at)


def found(world: World) -> Found:
    return concluded(world.run(), asked())


def numbers(shas: list[str]) -> list[int]:
    return [int(sha[:8], 16) for sha in shas]


def pairs(world: World) -> list[tuple[int, int]]:
    return [(step.base, step.head) for step in world.steps]


@given(st.integers(2, 60), st.data())
def test_one_slow_commit_is_found_and_confirmed(count: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, count - 1))
    world = World({"a": jump(count, at)})
    (answer,) = found(world).answers
    assert (numbers(answer.suspects), answer.state) == ([at], State.CONFIRMED)
    assert len(world.steps) <= 2 + math.ceil(math.log2(count - 1))
    assert len(set(pairs(world))) == len(world.steps), "no gate is taken twice"


@given(st.integers(3, 30), st.data())
def test_whatever_can_not_be_tested_the_answer_has_the_slow_commit(count: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, count - 1))
    sick = data.draw(st.dictionaries(st.integers(1, count - 2), st.sampled_from(["build", "noise", "once"])))
    kinds = {"build": [NO_BUILD], "noise": [UNDECIDED, UNDECIDED], "once": [UNDECIDED]}
    world = World({"a": jump(count, at)}, odd={(0, number): list(kinds[kind]) for number, kind in sick.items()},
                  most_untestable=100)  # fmt: skip
    (answer,) = found(world).answers
    gone = {number for number, kind in sick.items() if kind != "once"}
    assert at in numbers(answer.suspects)
    assert set(numbers(answer.suspects)[:-1]) <= gone
    assert answer.state is State.CONFIRMED
    assert not answer.untested


def test_nothing_slower_ends_after_one_gate_with_its_exit_code() -> None:
    world = World({"a": [1.0] * 9})
    told = found(world)
    assert (len(world.steps), told.answers, told.exit_code) == (1, [], ExitCode.OK)


@pytest.mark.parametrize(
    ("verdict", "reason", "code"),
    [
        (Verdict.UNDECIDED, Reason.NOISE, ExitCode.UNDECIDED),
        (Verdict.VOID, Reason.UNTRUSTED, ExitCode.UNTRUSTED),
        (Verdict.BROKEN, Reason.RAISED, ExitCode.UNDECIDED),
        (Verdict.NEW, Reason.NOT_IN_BASE, ExitCode.UNDECIDED),
    ],
)
def test_a_first_gate_without_a_slower_cell_is_no_conviction(verdict: Verdict, reason: Reason, code: int) -> None:
    world = World({"a": [1.0] * 9}, odd={(0, 8): [Figure(verdict=verdict, reason=reason)]})
    assert found(world).exit_code == code
    assert len(world.steps) == 1


def test_a_commit_next_to_good_needs_no_gate_of_its_own_to_be_confirmed() -> None:
    world = World({"a": jump(2, 1)})
    assert found(world).answers[0].state is State.CONFIRMED
    assert pairs(world) == [(0, 1)]


def test_other_cells_are_measured_along_and_the_same_commit_explains_them() -> None:
    world = World({"a": jump(9, 5, 1.05), "b": jump(9, 5, 1.03), "c": [1.0] * 9})
    told = found(world)
    assert [(each.cell, numbers(each.suspects), each.state) for each in told.answers] == [
        ("a", [5], State.CONFIRMED),
        ("b", [5], State.CONFIRMED),
    ]
    assert list(told.others) == ["c"]
    assert all("c" not in step.cells for step in world.steps)


def test_a_cell_with_another_commit_is_left_open_or_gone_on_with() -> None:
    times = {"a": jump(17, 13, 1.08), "b": jump(17, 3, 1.03)}
    answers = {each.cell: each for each in found(World(times)).answers}
    assert (numbers(answers["a"].suspects), answers["a"].state) == ([13], State.CONFIRMED)
    assert answers["b"].state is State.OPEN
    assert 3 in numbers(answers["b"].suspects)
    answers = {each.cell: each for each in found(World(times, every_cell=True)).answers}
    assert (numbers(answers["b"].suspects), answers["b"].state) == ([3], State.CONFIRMED)


def test_small_steps_contradict_the_commit_that_crosses_the_line() -> None:
    world = World({"a": [1.0, 1.004, 1.008, 1.012, 1.016]})
    told = found(world)
    assert told.answers[0].state is State.CONTRADICTED
    assert told.exit_code == ExitCode.UNDECIDED
    assert pairs(world)[-1] == (2, 3)


def test_a_direct_gate_that_decides_nothing_twice_leaves_it_unconfirmed() -> None:
    world = World({"a": jump(5, 3)}, odd={(2, 3): [UNDECIDED, UNDECIDED]})
    told = found(world)
    assert (told.answers[0].state, told.exit_code) == (State.UNCONFIRMED, ExitCode.UNDECIDED)
    assert pairs(world).count((2, 3)) == 2


def test_a_good_build_behind_the_slower_one_is_said() -> None:
    world = World({"a": [1.0, 1.0, 1.05, 1.0, 1.0, 1.05]}, keys="aabccb")
    told = found(world)
    assert numbers(told.answers[0].suspects) == [2]
    assert told.answers[0].returns == []  # c was not measured: nothing is known of it
    world = World({"a": [1.0, 1.05, 1.0, 1.05]}, keys="abab")
    (answer,) = found(world).answers
    ((slower, good),) = [(one.slower, one.good) for one in answer.returns]
    assert numbers([slower, good]) == [1, 2]
    assert pairs(world) == [(0, 3)]


def test_what_was_taken_back_before_the_answer_is_said() -> None:
    told = found(World({"a": [1.0, 1.05, 1.0, 1.0, 1.06]}, keys="abacd"))
    assert numbers(told.answers[0].suspects) == [4]
    assert numbers(told.taken_back) == [2]


def test_a_search_given_up_says_what_was_not_tried() -> None:
    odd = {(0, number): [NO_BUILD] for number in range(1, 30)}
    world = World({"a": jump(32, 15)}, odd=dict(odd), most_untestable=3)
    (answer,) = found(world).answers
    assert len(world.steps) < 12
    assert 15 in numbers(answer.suspects)
    assert answer.untested
    assert answer.state is State.CONFIRMED


def test_a_cell_that_the_gate_of_another_did_not_decide_is_tried_again_only_when_it_is_its_turn() -> None:
    times = {"a": jump(9, 5, 1.05), "b": jump(9, 5, 1.03)}
    world = World(times, odd={(0, 4): [UNDECIDED]})
    assert [numbers(each.suspects) for each in found(world).answers] == [[5], [5]]
    assert pairs(world).count((0, 4)) == 2


def test_gates_of_an_earlier_call_are_gone_on_from_at_any_point() -> None:
    whole = World({"a": jump(40, 23), "b": jump(40, 30, 1.03)}, every_cell=True)
    wanted = found(whole)
    for kept in range(len(whole.gates)):
        again = World(whole.times, every_cell=True, gates=list(whole.gates[:kept]))
        assert found(again).answers == wanted.answers
        assert len(again.steps) == len(whole.gates) - kept


def test_the_estimate_of_gates_left_is_never_less_than_what_a_search_without_trouble_takes() -> None:
    world = World({"a": jump(100, 61)})
    world.run()
    assert all(step.gates_left >= len(world.steps) - place for place, step in enumerate(world.steps))
    assert past(100)[61].sha == world.search().commits[61].sha


def test_a_gate_measures_those_cells_only_that_it_tells_something_of() -> None:
    world = World({"a": jump(17, 13, 1.08), "b": jump(17, 3, 1.03)})
    world.run()
    cells = {(step.base, step.head): step.cells for step in world.steps}
    assert cells[0, 8] == ("a", "b")
    assert cells[0, 12] == ("a",)
    assert cells[12, 13] == ("a",)


def test_one_convicted_commit_is_enough_for_exit_code_1() -> None:
    world = World({"a": jump(5, 3, 1.05), "b": jump(5, 2, 1.03)}, odd={(2, 3): [figure(1.0)]}, every_cell=True)
    told = found(world)
    assert [each.state for each in told.answers] == [State.CONTRADICTED, State.CONFIRMED]
    assert told.exit_code == ExitCode.SLOWER


def test_an_accepted_slowdown_is_good() -> None:
    accepted = Figure(verdict=Verdict.ACCEPTED, reason=Reason.WITHIN_ACCEPTED)
    world = World({"a": jump(9, 3)}, odd={(0, number): [accepted] for number in (3, 4, 5)})
    assert numbers(found(world).answers[0].suspects) == [6]
