"""What a finished command says: verdict first, table second, advice last; results on stdout, the rest on stderr."""

import os
import shutil
import sys
from typing import TYPE_CHECKING

from solwatch.model.errors import ExitCode
from solwatch.model.plain import plain_lines

if TYPE_CHECKING:
    from solwatch.app.outcome import Outcome
    from solwatch.judge.judgement import Judgement
    from solwatch.model.record import Record


def show(outcome: "Outcome", table: str | None = None) -> int:
    """Print the outcome and return its exit code: the verdict's, or 3 when it passed and its page is missing.

    ``table``: what ``rendered`` made of it before.
    """
    for warning in outcome.kept.warnings:
        say(f"warning: {warning}")
    print_result(rendered(outcome.record, outcome.judgement) if table is None else table)
    code = outcome.judgement.exit_code
    if outcome.kept.report is not None:
        print_result(plain_lines(f"report: {outcome.kept.report}"))
    elif code != ExitCode.SLOWER:
        code = ExitCode.UNTRUSTED
    say(f"record: {outcome.kept.record}")
    return int(code)


def rendered(record: "Record", judgement: "Judgement") -> str:
    """Return verdict, table and advice as this terminal shows them."""
    from solwatch.render.terminal import render_terminal

    return render_terminal(record, judgement, width=terminal_width(), colour=_in_colour())


def terminal_width() -> int:
    """Return how many characters fit on a line; 120 where there is no terminal."""
    return shutil.get_terminal_size((120, 40)).columns


def _in_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say(text: str) -> None:
    """Say ``text`` on stderr."""
    print(plain_lines(text), file=sys.stderr)


def print_result(text: str) -> None:
    """Print ``text`` on stdout; a reader that has gone away changes no exit code."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Nothing more can be said there, not even by the interpreter when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
