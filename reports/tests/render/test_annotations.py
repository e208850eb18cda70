"""Annotations: ten at most, worst first, and no text from outside becomes a command of its own."""

import re

from fakes.golden import assert_golden
from fakes.gpu_run import gpu_record
from fakes.hostile import ATTACKS
from fakes.hostile import texts as hostile
from fakes.records import FakeCell, record
from hypothesis import given

from solwatch.judge.judging import judge
from solwatch.model.plain import without_commands
from solwatch.model.record import Record
from solwatch.render.annotations import annotation, render_annotations

COMMAND = re.compile(r"::(error|warning|notice) title=([^:,]*)::(.*)")


def lines(taken: Record) -> list[str]:
    return render_annotations(taken, judge(taken)).splitlines()


def test_is_what_it_was() -> None:
    assert_golden("gate-annotations.txt", "\n".join([*lines(gpu_record(layers=2)), ""]))


def test_there_are_ten_at_most_worst_first_and_the_others_are_counted() -> None:
    found = lines(record([FakeCell(key=f"cell {index}", ratio=1.1 + index / 100) for index in range(20)]))
    assert len(found) == 10
    assert "::cell 19: slower" in found[0]
    assert found[-1] == "::error title=solwatch%3A more cells::and 11 more; the report has all"
    assert len(lines(record([FakeCell(key=f"cell {index}", ratio=1.2) for index in range(10)]))) == 10


def test_a_commit_that_is_not_slower_has_none() -> None:
    assert lines(record([FakeCell(key="a")])) == []


def test_hostile_names_stay_in_their_message() -> None:
    found = lines(record([FakeCell(key=f"{index} {attack}", ratio=1.2) for index, attack in enumerate(ATTACKS[:10])]))
    assert len(found) == 10
    assert all(COMMAND.fullmatch(line) for line in found)


@given(hostile, hostile)
def test_any_text_is_one_command(title: str, message: str) -> None:
    match = COMMAND.fullmatch(annotation("error", title, message))
    assert match
    assert "%" not in re.sub("%25|%3A|%2C", "", match[2])
    assert "%" not in match[3].replace("%25", "")


@given(hostile)
def test_text_that_is_printed_holds_no_command(text: str) -> None:
    shown = without_commands(text)
    assert not any(line.strip().startswith("::") for line in shown.split("\n"))
    assert "##[" not in shown


def test_other_text_is_printed_as_it_is() -> None:
    assert without_commands("a::b\n  ## c [d]\n") == "a::b\n  ## c [d]\n"
    assert without_commands("  ::error::x") == "  : :error::x"
