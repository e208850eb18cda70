"""Turns of a cell: what its scatter asks for, within bounds, whichever side is slower and whatever odd blocks say."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.app.turns import (
    FEWEST_OF_LONG_CALLS,
    FEWEST_TURNS,
    LONG_BLOCK_S,
    LONG_CALL_S,
    MOST_TURNS,
    WANTED_SPREAD,
    Turns,
    block_s,
)
from solwatch.model.record import Block

SHORT = LONG_CALL_S / 10


def blocks(means: Sequence[float]) -> list[Block]:
    return [Block(samples_s=[mean], null_s=[], number=1, timer="held") for mean in means]


def after(*rounds: tuple[Sequence[float], Sequence[float]], call_s: float = SHORT) -> int:
    turns = Turns()
    for head, base in rounds:
        turns.note("a", blocks(head), blocks(base))
    return turns.of("a", call_s, first=4)


def noisy(spread: float, count: int = 2000) -> tuple[list[float], list[float]]:
    generator = random.Random(3)
    return [generator.lognormvariate(0, spread) for _ in range(count)], [1.0] * count


def test_nothing_known_yet_is_the_plan_or_many_for_long_calls() -> None:
    assert after() == 4
    assert after(call_s=LONG_CALL_S) == MOST_TURNS


@pytest.mark.parametrize("wanted", [2, 4, 6, 8, 10, 12])
def test_turns_leave_the_wanted_spread(wanted: int) -> None:
    # a little less than what so many turns bring down to the wanted spread
    assert after(noisy(0.95 * WANTED_SPREAD * wanted**0.5)) == wanted


def test_turns_have_bounds() -> None:
    assert after(noisy(1.0)) == MOST_TURNS
    assert after(([1.0, 1.0], [1.0, 1.0])) == FEWEST_TURNS


def test_long_calls_keep_enough_turns_for_a_median() -> None:
    assert after(([1.0, 1.0], [1.0, 1.0]), call_s=LONG_CALL_S) == FEWEST_OF_LONG_CALLS


def test_one_wild_block_changes_nothing() -> None:
    head, base = noisy(0.003, 40)
    assert after((head, base)) == after(([*head[:20], 50.0, *head[21:]], base))


@given(st.lists(st.floats(0.9, 1.1), min_size=2, max_size=12), st.floats(0.5, 2.0))
def test_neither_the_side_nor_a_slowdown_matters(head: list[float], slowdown: float) -> None:
    base = [1.0] * len(head)
    bounds = {after((head, base)), after((base, head))}
    assert len(bounds) == 1
    slower = after(([each * slowdown for each in head], base))
    assert abs(slower - bounds.pop()) in (0, 2)  # rounding can carry it over a step


@pytest.mark.parametrize(
    "unclear",
    [([1.0, 2.0], [1.0]), ([], []), ([1.0], [2.0]), ([0.0, 0.0], [1.0, 1.0])],
    ids=["measured again", "failed", "one turn", "no time"],
)
def test_what_says_nothing_teaches_nothing(unclear: tuple[list[float], list[float]]) -> None:
    assert after(unclear) == 4


def test_one_side_alone_teaches_nothing() -> None:
    turns = Turns()
    turns.note("a", blocks([1.0, 2.0]))
    assert turns.of("a", SHORT, first=4) == 4


def test_long_calls_have_short_blocks() -> None:
    assert block_s(0.01, LONG_CALL_S) == LONG_BLOCK_S
    assert block_s(0.01, SHORT) == 0.01
    assert block_s(0.001, 1.0) == 0.001
