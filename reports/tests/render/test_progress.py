"""Progress: plain lines without a terminal, a bar with one, and a sane terminal afterwards."""

import io
import math

import pytest

from solwatch.render.progress import LINE_S, Progress


class Clock:
    """Time that moves when told."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_without_a_budget_there_is_no_limit_until_a_round_has_told_how_long_one_takes() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress.open(4, math.inf, stream=stream, clock=clock) as progress:
        for index in range(3):
            progress.round(index)
            progress.cell("o.P(1)")
            clock.now_s += 20
    lines = stream.getvalue().splitlines()
    assert lines[0] == "round 1 of at most 4, no limit of time"
    assert lines[-1].startswith("round 3 of at most 4, at most 0:40 left")


def test_without_a_terminal_lines_are_plain_and_rare() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress.open(4, 300.0, stream=stream, clock=clock) as progress:
        for index in range(4):
            progress.round(index)
            for cell in range(100):
                clock.now_s += 0.1
                progress.cell(f"o.P({cell})")
    lines = stream.getvalue().splitlines()
    # Forty seconds of measuring and a line at most every LINE_S.
    assert 2 <= len(lines) <= 1 + 40 / LINE_S
    assert lines[0] == "round 1 of at most 4, at most 5:00 left"
    assert "\x1b" not in stream.getvalue()
    assert "\r" not in stream.getvalue()
    assert any("o.P(" in line for line in lines)


def test_time_left_follows_the_rounds_taken_once_there_is_one() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress.open(11, 3000.0, stream=stream, clock=clock)
    progress.round(0)
    progress.cell("a")
    clock.now_s += 20
    progress.round(1)
    # Ten more rounds of twenty seconds.
    assert stream.getvalue().splitlines()[-1] == "round 2 of at most 11, at most 3:20 left"


def test_time_left_is_never_more_than_the_budget_has() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress.open(11, 60.0, stream=stream, clock=clock)
    progress.round(0)
    progress.cell("a")
    clock.now_s += 20
    progress.round(1)
    assert stream.getvalue().splitlines()[-1].endswith("at most 0:40 left")


def test_a_note_is_said_at_once() -> None:
    stream = io.StringIO()
    Progress.open(4, 300.0, stream=stream, clock=Clock()).note("the GPU is warm\x1b[2J")
    assert stream.getvalue() == "the GPU is warm[2J\n"


def test_a_terminal_sees_cell_round_and_time_left() -> None:
    stream, clock = Terminal(), Clock()
    with Progress.open(4, 300.0, stream=stream, clock=clock) as progress:
        progress.round(0)
        clock.now_s += 1
        progress.cell("o.P(16, 'llama')")
        progress.note("a note")
    shown = stream.getvalue()
    assert "round 1 of at most 4" in shown
    assert "at most 4:59 left" in shown
    assert "o.P(16, 'llama')" in shown
    assert "a note" in shown


def test_the_cursor_is_back_after_an_interruption() -> None:
    stream = Terminal()
    progress = Progress.open(4, 300.0, stream=stream, clock=Clock())

    def interrupted() -> None:
        with progress:
            progress.round(0)
            progress.cell("a")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    shown = stream.getvalue()
    assert "\x1b[?25l" in shown
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l")


def test_closing_twice_does_nothing_more() -> None:
    stream = Terminal()
    progress = Progress.open(4, 300.0, stream=stream, clock=Clock())
    progress.close()
    length = len(stream.getvalue())
    progress.close()
    assert len(stream.getvalue()) == length


def test_hostile_cell_names_do_not_reach_the_terminal() -> None:
    stream, clock = Terminal(), Clock()
    with Progress.open(1, 300.0, stream=stream, clock=clock) as progress:
        clock.now_s += 1
        progress.cell("a\x1b]0;owned\x07[bold]b")
    assert "\x1b]0" not in stream.getvalue()
    assert "[bold]b" in stream.getvalue()
