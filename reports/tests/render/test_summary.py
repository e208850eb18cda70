"""The job's summary: golden, cut with a count, and harmless whatever the names in it are."""

import pytest
from fakes.golden import assert_golden
from fakes.gpu_run import gpu_record
from fakes.hostile import ATTACKS, html, prose, spans, tokens
from fakes.records import FakeCell, always, commit, record

from solwatch.judge.judging import judge
from solwatch.model.plain import plain
from solwatch.model.record import Record
from solwatch.render.summary import SUMMARY_BYTES, render_summary

OURS = {"<details><summary>Why</summary>", "</details>"}


def text(taken: Record, most_bytes: int = SUMMARY_BYTES) -> str:
    return render_summary(taken, judge(taken), most_bytes=most_bytes)


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("gate-summary.md", gpu_record(layers=2)),
        ("run-summary.md", record([FakeCell(key="o_proj.OProj(1, 'llama-3-8b')")], rounds=3, alone=True)),
    ],
)
def test_is_what_it_was(name: str, taken: Record) -> None:
    assert_golden(name, text(taken))


def test_names_the_worst_cell_first() -> None:
    shown = text(record([FakeCell(key="bad", ratio=1.1), FakeCell(key="worse", ratio=1.3), FakeCell(key="fine")]))
    rows = [line for line in shown.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == ["worse", "bad", "fine", "null_kernel"]


def test_hostile_names_are_text() -> None:
    cells = [FakeCell(key=f"{attack} {index}", ratio=1.2) for index, attack in enumerate(ATTACKS)]
    cells.append(FakeCell(key="fails", head_failures=always("raised", "".join(ATTACKS))))
    cells.append(FakeCell(key="odd", unit="@octocat | <b>", kind="asv"))
    head = commit("4be1c0ffee", "@octocat/<b>`|", "</details> [x](https://evil.example)")
    shown = text(record(cells, head=head, notes=ATTACKS))
    assert html(shown) == OURS
    assert {token.type for token in tokens(shown)} & {"link_open", "image", "hr", "blockquote_open"} == set()
    assert not any(mark in prose(shown) for mark in ("@", "://", "#1", "evil"))
    assert {plain(f"{attack} {index}", 200) for index, attack in enumerate(ATTACKS)} <= set(spans(shown))


@pytest.mark.parametrize("room", [1500, 2500, 4000, 8000])
def test_what_does_not_fit_is_cut_and_counted(room: int) -> None:
    cells = [FakeCell(key=f"o_proj.OProj({index}, 'llama-3-8b')", ratio=1.2) for index in range(40)]
    taken = record(cells, rounds=12)
    shown = text(taken, room)
    assert len(shown.encode()) <= room
    assert shown.startswith("### FAIL\n")
    rows = sum(line.startswith("| `") for line in shown.splitlines())
    assert (f"and {41 - rows} cells more; the report has all" in shown) == (rows < 41)
    explained = shown.count("slower: ")
    assert explained < 40
    assert f"and the reasons of {40 - explained} cells more; the report has all" in shown
    assert html(shown) <= OURS
    assert text(taken).count("slower: ") == 40


def test_thousands_of_cells_fit_into_what_github_shows() -> None:
    cells = [FakeCell(key=f"o_proj.OProj({index}, {'x' * 170!r})", ratio=1.2) for index in range(1500)]
    shown = text(record(cells, rounds=12, samples=2))
    assert SUMMARY_BYTES - 2000 < len(shown.encode()) <= SUMMARY_BYTES
    assert "more; the report has all" in shown
