"""Errors that end a command, each with the exit code of the documented table."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit code says; when several hold: 2, then 1, 3, 4, 0.

    ``OK``: measured, and nothing is slower
    ``SLOWER``: at least one cell is slower, below its floor, or broken by the head, or the head does not build
    ``USAGE``: the request is wrong: usage, configuration, unknown commit
    ``UNTRUSTED``: the machine can't be trusted, or it or the build of the base failed
    ``UNDECIDED``: nothing was decided: no cell measured, or every gated cell undecided
    ``INTERRUPTED``: interrupted; completed rounds are kept
    """

    OK = 0
    SLOWER = 1
    USAGE = 2
    UNTRUSTED = 3
    UNDECIDED = 4
    INTERRUPTED = 130


class SolwatchError(Exception):
    """An error with one clear line: what was seen, the limit, what to do."""

    exit_code = ExitCode.UNTRUSTED


class RequestError(SolwatchError):
    """The request is wrong: usage, configuration, unknown commit."""

    exit_code = ExitCode.USAGE


class MachineError(SolwatchError):
    """The machine or the build can't be trusted or failed."""


class BuildError(SolwatchError):
    """A commit doesn't compile; who is at fault, head or machine, is for the caller to say.

    ``commit``: its name. ``output``: the last lines of the compiler's output, to be shown below the error.
    """

    def __init__(self, message: str, *, commit: str, output: str) -> None:
        super().__init__(message)
        self.commit = commit
        self.output = output


class HeadBuildError(SolwatchError):
    """The head doesn't compile: the commit is at fault, not the machine."""

    exit_code = ExitCode.SLOWER


class NothingMeasuredError(SolwatchError):
    """No cell was measured."""

    exit_code = ExitCode.UNDECIDED
