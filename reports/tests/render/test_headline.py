"""The verdict on a whole commit in one line."""

import re

import pytest
from fakes.gpu_run import gpu_record
from fakes.records import FakeCell, always, record

from solwatch.judge.judging import judge
from solwatch.model.record import Record
from solwatch.render.headline import Headline, headline


def said(taken: Record) -> Headline:
    return headline(taken, judge(taken))


@pytest.mark.parametrize(
    ("cells", "rounds", "state", "title", "text"),
    [
        ([FakeCell(key="a"), FakeCell(key="b", ratio=0.9)], 10, "pass", "PASS", "nothing is slower, 1 faster"),
        ([FakeCell(key="a")], 10, "pass", "PASS", "nothing is slower"),
        (
            [FakeCell(key="a", spread=0.2)],
            16,
            "undecided",
            "NOTHING DECIDED",
            "the noise hides what the gate must catch",
        ),
        (
            [FakeCell(key="a", voided=frozenset(range(10)))],
            10,
            "untrusted",
            "NOT TRUSTED",
            "1 of 1 cells could not be measured",
        ),
        (
            [FakeCell(key="a"), FakeCell(key="b", head_failures=always("hung", "silent"))],
            10,
            "fail",
            "FAIL",
            "1 of 2 cells broken; worst: b broken",
        ),
        ([FakeCell(key="a", gated=False)], 10, "undecided", "NOTHING DECIDED", "no gated cell was measured"),
    ],
)
def test_each_state(cells: list[FakeCell], rounds: int, state: str, title: str, text: str) -> None:
    found = said(record(cells, rounds=rounds))
    assert (found.state, found.title, found.text) == (state, title, text)


def test_the_worst_cell_is_the_slowest_one() -> None:
    found = said(record([FakeCell(key="a", ratio=1.1), FakeCell(key="b", ratio=4.0), FakeCell(key="c", ratio=1.2)]))
    assert found.text.startswith("3 of 3 cells slower; worst: b ")
    assert found.text.endswith("×")


def test_head_alone_is_measured() -> None:
    found = said(record([FakeCell(key="a")], rounds=3, alone=True))
    assert (found.state, found.coverage) == ("measured", "1 of 1 measured")
    assert "no base to compare with" in found.text


def test_a_failing_run_lists_every_count_and_what_to_do() -> None:
    found = said(gpu_record())
    assert dict(found.counts)["slower"] == 1
    assert sum(count for _, count in found.counts) == 24
    assert [verdict for verdict, _ in found.counts][:2] == ["slower", "broken"]
    assert len(found.advice) == 4


def test_advice_on_undecided_cells_follows_why_measuring_stopped() -> None:
    cells = [FakeCell(key="a", spread=0.2), FakeCell(key="b")]
    assert any("--budget" in advice for advice in said(record(cells, rounds=8, stopped="budget")).advice)
    assert any("--rounds" in advice for advice in said(record(cells, rounds=8, stopped="rounds")).advice)
    assert any("quieter machine" in advice for advice in said(record(cells, rounds=24, stopped="rounds")).advice)


def test_the_worst_change_has_its_error() -> None:
    assert re.fullmatch(
        r"1 of 24 cells slower, 1 broken; worst: o_proj.OProj\(1, 'llama-3-8b'\) \+3\.\d\d % ± 0\.\d\d",
        said(gpu_record()).text,
    )
