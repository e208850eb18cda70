"""The entry point: parses, runs a command, and turns every ending into the documented exit code."""

import contextlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

import click

from solwatch import __version__
from solwatch.cli.accept import accept
from solwatch.cli.answering import answer, comment
from solwatch.cli.bisecting import bisect
from solwatch.cli.build import build
from solwatch.cli.ci import ci
from solwatch.cli.commands import bench, gate, record, report, run
from solwatch.cli.ending import ending
from solwatch.cli.fleet import fleet
from solwatch.cli.history import history
from solwatch.cli.joining import retry, verdict
from solwatch.cli.machine import calibrate, ceilings, doctor, selftest
from solwatch.cli.site import site
from solwatch.model.errors import ExitCode, RequestError
from solwatch.model.plain import plain_lines

EXIT_CODES = """
\b
Exit codes:
  0    measured, and nothing is slower
  1    a cell is slower, below its floor, or broken by the head
  2    the request is wrong: usage, configuration, unknown commit
  3    the machine or the build can't be trusted or failed
  4    nothing was decided
  130  interrupted
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="solwatch")
def solwatch() -> None:
    """Tell whether a commit made a fused kernel slower, and how far it is from the speed of light."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise RequestError("the current folder has been deleted: change to a clone of the project") from None


for command in (
    gate, build, run, bench, report, accept, record, bisect, history, site, ceilings, doctor, selftest, calibrate, ci,
    fleet,
):  # fmt: skip
    solwatch.add_command(command)
for step in (verdict, retry, comment, answer):
    ci.add_command(step)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``solwatch`` with ``arguments`` (the process's own by default) and exit with the documented code."""
    sys.exit(outcome(arguments))


def outcome(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of one call; no exception leaves it, and only a verdict gives 1."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an encoding without µ must not cost a verdict
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup asks for that
                signal.signal(number, _interrupt)
        code = solwatch.main(arguments and list(arguments), prog_name="solwatch", standalone_mode=False)
        return int(code or ExitCode.OK)
    except SystemExit:  # click's own answer to a reader that went away, always 1
        return ExitCode.UNTRUSTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return ExitCode.USAGE
    except (Exception, KeyboardInterrupt) as error:
        return _end(*ending(error))


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end(message: str, code: ExitCode) -> int:
    with contextlib.suppress(OSError):  # nobody can be told; the code still says it
        click.echo(plain_lines(f"solwatch: {message}"), err=True)
    return int(code)


if __name__ == "__main__":
    main()
