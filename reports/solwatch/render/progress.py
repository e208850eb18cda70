"""Progress on stderr: the cell, the round and the time left; plain occasional lines where there is no terminal."""

import atexit
import math
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.text import Text

from solwatch.model.plain import plain
from solwatch.render.units import clock_time

REDRAW_S = 0.1
"""Shortest time between two drawings on a terminal."""

LINE_S = 15.0
"""Shortest time between two lines where there is no terminal, so that a CI log stays short."""


class Progress:
    """Says where measuring is. Made by ``Progress.open``; a context manager that leaves the terminal sane.

    Nothing is drawn by a background thread: it would take time from what is being measured.
    """

    def __init__(
        self,
        total_rounds: int,
        budget_s: float,
        *,
        stream: TextIO,
        terminal: bool,
        clock: Callable[[], float],
    ) -> None:
        self._total_rounds = max(1, total_rounds)
        self._budget_s = budget_s
        self._stream = stream
        self._clock = clock
        self._started_s = clock()
        self._said_s = -LINE_S
        self._round = 0
        self._cells_done = 0
        self._cells_last_round: int | None = None
        self._round_started_s = self._started_s
        self._round_s: float | None = None
        self._bar: Bar | None = None
        if terminal:
            self._bar = Bar(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[left]}", markup=False),
                TextColumn("{task.fields[cell]}", markup=False),
                console=Console(file=stream, highlight=False, markup=False, emoji=False),
                auto_refresh=False,
                transient=True,
            )
            self._task = self._bar.add_task("starting", total=float(self._total_rounds), left="", cell="")
            self._bar.start()
            # A bar hides the cursor. Should an exit pass by close(), the interpreter still shows it again.
            atexit.register(self.close)

    @classmethod
    def open(
        cls,
        total_rounds: int,
        budget_s: float,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> "Progress":
        """Return a display on ``stream`` (stderr) of at most ``total_rounds`` rounds and ``budget_s`` seconds.

        The budget may be infinite.
        """
        stream = stream or sys.stderr
        return cls(total_rounds, budget_s, stream=stream, terminal=stream.isatty(), clock=clock)

    def round(self, index: int) -> None:
        """Say that round ``index`` begins, counted from 0."""
        now_s = self._clock()
        if self._cells_done:
            self._cells_last_round = self._cells_done
            self._round_s = now_s - self._round_started_s
        self._round, self._cells_done, self._round_started_s = index, 0, now_s
        if self._bar is None and (index == 0 or now_s - self._said_s >= LINE_S):
            self._line(f"{self._position()}, {self._left()}")

    def cell(self, key: str) -> None:
        """Say that a cell begins; shown at once on a terminal, now and then elsewhere."""
        self._cells_done += 1
        now_s = self._clock()
        if self._bar is not None:
            if now_s - self._said_s >= REDRAW_S:
                self._said_s = now_s
                self._draw(key)
        elif now_s - self._said_s >= LINE_S:
            self._line(f"{self._position()}, {self._left()}: {plain(key, 80)}")

    def note(self, text: str) -> None:
        """Say ``text`` on a line of its own, without disturbing the display."""
        if self._bar is not None:
            self._bar.console.print(Text(plain(text)))
        else:
            self._line(plain(text), hold=False)

    def close(self) -> None:
        """Take the display away and show the cursor; may be called twice."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
            atexit.unregister(self.close)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _draw(self, key: str) -> None:
        assert self._bar is not None
        self._bar.update(
            self._task,
            completed=self._round + self._share_of_round(),
            description=self._position(),
            left=self._left(),
            cell=plain(key, 60),
        )
        self._bar.refresh()

    def _line(self, text: str, *, hold: bool = True) -> None:
        if hold:
            self._said_s = self._clock()
        print(text, file=self._stream, flush=True)

    def _position(self) -> str:
        return f"round {self._round + 1} of at most {self._total_rounds}"

    def _share_of_round(self) -> float:
        if not self._cells_last_round:
            return 0.0
        return min(1.0, max(0, self._cells_done - 1) / self._cells_last_round)

    def _left(self) -> str:
        now_s = self._clock()
        left_s = self._budget_s - (now_s - self._started_s)
        if self._round_s is not None:
            rounds_left = self._total_rounds - self._round - self._share_of_round()
            left_s = min(left_s, rounds_left * self._round_s)
        return f"at most {clock_time(left_s)} left" if math.isfinite(left_s) else "no limit of time"
