"""Text from outside in Markdown: whatever it holds, a reader sees it as code and as nothing else."""

from fakes.hostile import ATTACKS, prose, spans, tokens
from fakes.hostile import texts as hostile
from hypothesis import example, given

from solwatch.model.plain import plain
from solwatch.render.markdown import block, code, figure, fitting, size_bytes, table_head, table_row
from solwatch.render.units import ABSENT


@given(hostile)
@example("\\|")
@example("a\\\\|b")
def test_a_code_span_holds_the_text_and_nothing_gets_out(text: str) -> None:
    shown = plain(text, 200)
    assert spans(f"x {code(text)} y") == ([shown] if shown else [])
    assert {token.type for token in tokens(f"x {code(text)} y")} <= {
        "paragraph_open", "inline", "text", "code_inline", "paragraph_close",
    }  # fmt: skip


@given(hostile, hostile)
def test_so_does_one_in_a_table_and_the_table_keeps_its_columns(one: str, two: str) -> None:
    table = "\n".join([*table_head(["a", "b", "c"]), table_row([code(one), "slower", code(two)])])
    found = tokens(table)
    assert [token.type for token in found].count("td_open") == 3
    assert spans(table) == [shown for text in (one, two) if (shown := plain(text, 200))]


@given(hostile, hostile)
def test_a_block_ends_where_it_should(one: str, two: str) -> None:
    (fence,) = tokens("\n".join(block([one, f"  - {two}"])))
    assert fence.type == "fence"
    assert fence.content.split("\n")[1].startswith("  -")


def test_figures_are_left_alone_and_anything_beside_them_is_code() -> None:
    for text in ("+3.14 %", "+3.04 % … +3.25 %", "12.52 µs", "> 1000 %", "6.4×", "−0.41 %", ABSENT, "0.557", "3.2 GB"):
        assert figure(text) == text
    for text in ("5 @octocat", "5 www.evil.example", "1 #2", "<b>", "5 furlongs"):
        assert figure(text) == f"`{text}`"


def test_nothing_of_the_attacks_is_left_outside_of_code() -> None:
    for text in ATTACKS:
        assert prose(f"{code(text)} said").strip(" –") == "said"


def test_lines_that_fit_are_counted_in_bytes() -> None:
    lines = ["µµ", "a", "b"]
    assert size_bytes(lines) == 9
    assert fitting(lines, 9) == lines
    assert fitting(lines, 8) == ["µµ", "a"]
    assert fitting(lines, 4) == []
