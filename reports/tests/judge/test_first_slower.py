"""The search: any history, any commit at fault, any set of commits that can't be tested."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.judge.first_slower import Line, Narrowed, Standing, narrowed, returns

GOOD, SLOWER, UNTESTABLE = Standing.GOOD, Standing.SLOWER, Standing.UNTESTABLE


def straight(keys: Sequence[str]) -> Line:
    return Line(keys=tuple(keys), parents=((), *((number,) for number in range(len(keys) - 1))))


def search(line: Line, culprit: int, untestable: frozenset[int], limit: int = 1000) -> tuple[Narrowed, list[int]]:
    """Search as gates would: a commit is slower if it descends from ``culprit``; return the end and what was tried."""
    standings = {line.keys[0]: GOOD, line.keys[-1]: SLOWER}
    tried: list[int] = []
    while (here := narrowed(line, standings, limit)).following is not None:
        number = here.following
        assert line.keys[number] not in standings, "nothing is measured twice"
        tried.append(number)
        told = SLOWER if line.precedes(culprit, number) else GOOD
        standings[line.keys[number]] = UNTESTABLE if number in untestable else told
    return here, tried


@st.composite
def histories(draw: st.DrawFn) -> tuple[Line, int, frozenset[int]]:
    """Draw branches and merges between one good and one bad commit, some of which build what a parent does."""
    count = draw(st.integers(2, 40))
    parents: list[tuple[int, ...]] = [()]
    keys = ["0"]
    for number in range(1, count):
        several = draw(st.integers(1, 2))
        chosen = draw(st.lists(st.integers(max(0, number - 4), number - 1), min_size=1, max_size=several, unique=True))
        if number == count - 1:  # all branches are merged in the end
            heads = set(range(number)) - {parent for each in parents for parent in each}
            chosen = sorted(heads | set(chosen))
        parents.append(tuple(chosen))
        alone = len(chosen) == 1 and number < count - 1
        keys.append(keys[chosen[0]] if alone and draw(st.booleans()) else str(number))
    line = Line(keys=tuple(keys), parents=tuple(parents))
    changing = [number for number in range(1, count) if line.changing >> number & 1]
    culprit = draw(st.sampled_from(changing))
    untestable = draw(st.frozensets(st.sampled_from(changing))) - {count - 1}
    return line, culprit, untestable


@given(histories())
def test_the_answer_has_the_commit_at_fault(drawn: tuple[Line, int, frozenset[int]]) -> None:
    line, culprit, untestable = drawn
    found, _ = search(line, culprit, untestable)
    assert culprit in found.suspects
    assert found.suspects[-1] == found.slower
    assert set(found.suspects) - {found.slower} <= untestable, "all that is left beside it could not be tested"
    assert line.precedes(found.good, found.slower)
    assert not line.precedes(culprit, found.good)


@given(histories())
def test_given_up_early_it_still_has_the_commit_at_fault(drawn: tuple[Line, int, frozenset[int]]) -> None:
    line, culprit, untestable = drawn
    found, tried = search(line, culprit, untestable, limit=2)
    assert culprit in found.suspects
    assert len(untestable & set(tried) & set(found.suspects)) <= 2


@given(st.integers(1, 600), st.data())
def test_a_straight_history_takes_as_many_gates_as_it_can_be_halved(count: int, data: st.DataObject) -> None:
    line = straight([str(number) for number in range(count + 1)])
    culprit = data.draw(st.integers(1, count))
    found, tried = search(line, culprit, frozenset())
    assert found.suspects == (culprit,)
    assert len(tried) <= math.ceil(math.log2(count))


@given(st.integers(2, 300), st.data())
def test_commits_that_can_not_be_tested_cost_little(count: int, data: st.DataObject) -> None:
    line = straight([str(number) for number in range(count + 1)])
    culprit = data.draw(st.integers(1, count))
    untestable = data.draw(st.frozensets(st.integers(1, count - 1), max_size=5)) if count > 1 else frozenset()
    found, tried = search(line, culprit, untestable)
    decided = [number for number in tried if number not in untestable]
    assert culprit in found.suspects
    assert len(decided) <= 2 * math.ceil(math.log2(count)) + len(untestable)


def test_in_a_stretch_that_does_not_build_the_next_try_lies_far_off() -> None:
    line = straight([str(number) for number in range(65)])
    _, tried = search(line, 60, frozenset(range(25, 40)))
    assert [number for number in tried if 25 <= number < 40] == [32]


def test_a_commit_that_builds_what_its_parent_does_is_never_measured_nor_to_blame() -> None:
    found, tried = search(straight("aaabbbcccddd"), 6, frozenset())
    assert found.suspects == (6,)
    assert set(tried) <= {3, 6}


def test_between_two_builds_nothing_needs_a_gate() -> None:
    found, tried = search(straight("aaabbb"), 3, frozenset())
    assert (found.suspects, found.good, tried) == ((3,), 2, [])


def test_the_first_return_to_the_slower_build_is_the_end_of_the_search_and_said() -> None:
    line = straight("abab")
    standings = {"a": GOOD, "b": SLOWER}
    assert narrowed(line, standings, 9).suspects == (1,)
    assert returns(line, standings) == [(1, 2)]


def test_a_good_commit_behind_a_slower_one_is_a_return() -> None:
    line = straight("abcde")
    assert returns(line, {"a": GOOD, "b": SLOWER, "d": GOOD, "e": SLOWER}) == [(1, 3)]
    assert returns(line, {"a": GOOD, "b": GOOD, "d": SLOWER, "e": SLOWER}) == []


@pytest.mark.parametrize(("culprit", "answer"), [(1, 1), (2, 2), (3, 3)])
def test_a_branch_is_searched_as_its_merge_is(culprit: int, answer: int) -> None:
    #   0 - 1 - 3 (merge)
    #    \- 2 -/
    line = Line(keys=tuple("0123"), parents=((), (0,), (0,), (1, 2)))
    found, _ = search(line, culprit, frozenset())
    assert found.suspects == (answer,)
