"""Text from outside is harmless wherever it is shown."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.model.plain import hidden, plain, plain_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Split  along\tK\n\nfor decode ", "Split along K for decode"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("evil\u202e txet", "evil txet"),
        ("zero\u200bwidth\x00", "zerowidth"),
        ("a ##\u200b[add-mask]1", "a ## [add-mask]1"),
        ("δ₁ — 4096 × 4096", "δ₁ — 4096 × 4096"),
        ("", ""),
    ],
)
def test_control_and_formatting_characters_go(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_long_text_is_cut_and_says_so() -> None:
    assert plain("x" * 1000, 10) == "x" * 9 + "…"


@given(st.text(), st.integers(min_value=2, max_value=50))
def test_is_one_short_line_without_anything_hidden(text: str, limit: int) -> None:
    shown = plain(text, limit)
    assert len(shown) <= limit
    assert not {"Cc", "Cf", "Cs", "Zl", "Zp"} & {unicodedata.category(char) for char in shown}
    assert plain(shown, limit) == shown


def test_lines_keep_their_indentation() -> None:
    assert plain_lines("cc:\r\n\t\x1b[1merror\u202e\n    ^  here\x07") == "cc:\n        [1merror\n    ^  here"


def test_lines_give_no_commands_to_a_runner() -> None:
    output = "cc:\n\t::add-mask::1\nerror ##[add-mask]1\nstd::vector\n\u200b::error::x"
    assert plain_lines(output) == "cc:\n        : :add-mask::1\nerror ## [add-mask]1\nstd::vector\n: :error::x"


@given(st.text())
def test_lines_hide_nothing_either(text: str) -> None:
    assert not any(hidden(char) for line in plain_lines(text).split("\n") for char in line)
