"""Columns that are short where values repeat, and come back whole."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.model.columns import folded, per_block, per_side

VALUES = st.none() | st.integers(0, 2) | st.sampled_from(["held", "graph"])


@st.composite
def columns(draw: st.DrawFn) -> list[list[list[Any]]]:
    lengths = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4))
    return [[draw(st.lists(VALUES, min_size=n, max_size=n)) for n in both] for both in lengths]


@given(columns())
def test_a_folded_column_comes_back_whole(column: list[list[list[Any]]]) -> None:
    counts = [[len(blocks) for blocks in sides] for sides in column]
    assert per_block(folded(column), counts) == column
    assert per_side(folded(counts), len(counts)) == counts


@pytest.mark.parametrize(
    ("column", "short"),
    [
        ([[[1, 1], [1, 1]], [[1, 1], [1, 1]]], 1),
        ([[[1, 1], [1, 1]], [[2, 1], [1, 1]]], [1, [[2, 1], 1]]),
        ([[[1, 2], [1, 2]]], [[[1, 2], [1, 2]]]),
        ([[["held"], []], [[], []]], [["held", None], None]),
        ([[[], []]], None),
        ([], None),
    ],
)
def test_equal_values_are_written_once(column: Any, short: Any) -> None:
    assert folded(column) == short


@pytest.mark.parametrize(
    ("column", "message"),
    [([1], "1 cells, wanted 2"), ([[1, 2, 3], 4], "3 sides, wanted 2"), ([[[1, 2], 3], 4], "2 blocks, wanted 1")],
)
def test_a_column_of_another_shape_is_refused(column: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        per_block(column, [[1, 1], [1, 1]])
