"""The terminal's table: golden, at every width, without a terminal, against hostile names."""

import re
from datetime import date

import pytest
from fakes.golden import assert_golden
from fakes.gpu_run import gpu_record
from fakes.records import CPU, CPU_CEILINGS, FakeCell, acceptance, accepting, always, commit, o_proj_work, record
from markupsafe import escape as html_escape

from solwatch.judge.judging import judge
from solwatch.model.identity import Identity
from solwatch.model.record import Record
from solwatch.model.reference import Reference
from solwatch.render.html import render_html
from solwatch.render.terminal import render_terminal
from solwatch.render.view import report_view

ACCEPTED = accepting(
    record([FakeCell(key="a", ratio=1.02), FakeCell(key="b", ratio=1.05), FakeCell(key="c")], rounds=16),
    acceptance("a"),
    acceptance("b", expires=date(2026, 3, 10)),
    acceptance("c", expires=date(2026, 3, 3)),
    reference=Reference(setting="last-release", commit="tags/v1.2", why="the newest tag that matches v*"),
)


def text(taken: Record, *, width: int = 120, colour: bool = False) -> str:
    return render_terminal(taken, judge(taken), width=width, colour=colour)


@pytest.mark.parametrize(
    ("name", "taken", "width"),
    [
        ("gate-120.txt", gpu_record(layers=2), 120),
        ("gate-80.txt", gpu_record(layers=2), 80),
        ("accepted-100.txt", ACCEPTED, 100),
        ("run-100.txt", record([FakeCell(key="o_proj.OProj(1, 'llama-3-8b')")], rounds=3, alone=True), 100),
    ],
)
def test_is_what_it_was(name: str, taken: Record, width: int) -> None:
    assert_golden(name, text(taken, width=width) + "\n")


def test_says_the_verdict_first_the_table_second_and_advice_last() -> None:
    lines = text(gpu_record()).splitlines()
    assert lines[0].startswith("FAIL  1 of 24 cells slower, 1 broken; worst: ")
    assert lines[1].startswith("21 of 24 decided, 1 new: ")
    table = next(index for index, line in enumerate(lines) if line.lstrip().startswith("cell "))
    assert table < min(index for index, line in enumerate(lines) if line.startswith("→"))
    assert lines[-1].startswith("→")


@pytest.mark.parametrize("width", [20, 40, 59, 60, 80, 100, 140, 200])
def test_never_is_wider_than_the_terminal(width: int) -> None:
    assert max(len(line) for line in text(gpu_record(), width=width).splitlines()) <= width


def test_every_cell_is_named_whole_at_any_width() -> None:
    taken = gpu_record()
    for width in (80, 200):
        shown = text(taken, width=width)
        assert all(cell.key in shown for cell in taken.header.cells)


def test_a_narrow_terminal_has_the_figures_under_each_cell() -> None:
    taken = record([FakeCell(key="o_proj.OProj(1, 'llama-3-8b')", ratio=1.2, work=o_proj_work(1, 4096, 4096))])
    lines = text(taken, width=48).splitlines()
    at = lines.index("o_proj.OProj(1, 'llama-3-8b')")
    assert lines[at + 1 : at + 3] == ["  slower +19.99 %", "  head 23.99 µs  SOL 0.291"]
    assert not any("───" in line for line in lines)


def test_a_missing_score_is_explained_under_the_table() -> None:
    cells = [
        FakeCell(key="good", work=o_proj_work(1, 4096, 4096, "float32"), base_s=1.0),
        *(FakeCell(key=f"fast{index}", work=o_proj_work(1, 4096, 4096, "float32"), base_s=1e-6) for index in range(4)),
        FakeCell(key="odd", work=o_proj_work(1, 8, 8, "float64"), base_s=1.0),
        FakeCell(key="plain", kind="asv"),
        FakeCell(key="gone", work=o_proj_work(1, 8, 8), head_failures=always("raised", "no")),
    ]
    taken = record(cells, fingerprint=CPU, ceilings=CPU_CEILINGS)
    excess = "faster than the measured ceiling (ceiling_exceeded); 'solwatch ceilings' measures it again"
    lines = [
        f"no SOL score for fast0, fast1, fast2 and 1 more: {excess}",
        "no SOL score for odd: no ceiling is known here for float64; 'solwatch ceilings' shows those there are",
        "no SOL score for plain: the suite does not say what work it does",
    ]
    assert [line for line in text(taken, width=200).splitlines() if "no SOL score" in line] == lines
    assert all(html_escape(line) in render_html(taken, judge(taken)) for line in lines)
    assert "SOL score" not in text(record([FakeCell(key="plain", kind="asv")]))


def test_a_wide_terminal_shows_more() -> None:
    head = text(gpu_record(), width=200)
    assert all(title in head for title in ("MFU", "MBU", "energy", "MDE", "95 % interval"))
    assert "95 % interval  " not in text(gpu_record(), width=80).splitlines()[4]


def test_there_is_no_escape_sequence_without_colour_and_there_is_with_it() -> None:
    assert "\x1b" not in text(gpu_record())
    assert "\x1b[" in text(gpu_record(), colour=True)


def test_colour_changes_nothing_but_colour() -> None:
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", text(gpu_record(), colour=True))
    assert [line.rstrip() for line in stripped.splitlines()] == text(gpu_record()).splitlines()


def test_hostile_names_do_not_reach_the_terminal() -> None:
    evil = "a\x1b]0;owned\x07\x1b[2J[bold red]b[/]"
    taken = record([FakeCell(key=evil, ratio=1.2)], head=commit("4be1c0ffee", "\x1b[31mHEAD", "\r\x1b[1Ahidden"))
    shown = text(taken)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "[bold red]b[/]" in shown


def test_many_explanations_are_cut_and_counted() -> None:
    cells = [FakeCell(key=f"cell {index}", ratio=1.2) for index in range(20)]
    shown = text(record(cells))
    assert "and 8 more; the report has the details of all" in shown
    assert shown.count("(above margin)") == 12


def test_notes_are_shown() -> None:
    taken = record([FakeCell(key="a")], notes=["extra does not import: No module named 'x'"])
    assert "note: extra does not import: No module named 'x'" in text(taken)


def test_two_names_of_one_build_are_said() -> None:
    same = commit("4be1c0ffee", "HEAD", "Change a comment in the docs")
    assert "note: head and base are one and the same build" in text(record([FakeCell(key="a")], head=same, base=same))
    assert "same build" not in text(record([FakeCell(key="a")]))


def test_cells_without_a_time_are_counted_and_have_no_figures() -> None:
    same = Identity(same={"suite": "5eed" * 16}, unmeasured={"a": None, "b": None}, sample=["c"])
    taken = record([FakeCell(key="a"), FakeCell(key="b"), FakeCell(key="c")], identity=same)
    shown = text(taken)
    assert shown.startswith(
        "PASS  nothing is slower\n3 of 3 decided: 3 unchanged\n2 of 3 not measured: nothing that they run has changed\n"
    )
    assert re.search(r"^ a +identical( +–)+$", shown, re.MULTILINE)
    assert re.search(r"^ c +unchanged +[+−0]", shown, re.MULTILINE)
    assert "not measured" not in text(record([FakeCell(key="a")]))


def test_a_run_without_cells_has_no_table() -> None:
    shown = text(record([]))
    assert shown.startswith("NOTHING DECIDED  no gated cell was measured")
    assert "verdict" not in shown


@pytest.mark.parametrize(("ratio", "unit"), [(1.9, "%"), (2.2, "×")])
def test_an_interval_has_one_unit(ratio: float, unit: str) -> None:
    taken = record([FakeCell(key="a", ratio=ratio, spread=0.2)], rounds=10)
    row = next(row for row in report_view(taken, judge(taken)).rows if row.key == "a")
    assert row.ratio_low < 2 < row.ratio_high
    assert row.interval.count(unit) == 2
    assert row.evidence[0].count("times" if unit == "×" else " %") == (3 if unit == "×" else 4)
