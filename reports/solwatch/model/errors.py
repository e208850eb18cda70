"""Errors that end a command, each with the exit code of the documented table."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit code says; only a verdict returns ``SLOWER``."""

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


class HeadBuildError(SolwatchError):
    """The head doesn't compile: the commit is at fault, not the machine."""

    exit_code = ExitCode.SLOWER


class NothingMeasuredError(SolwatchError):
    """No cell was measured."""

    exit_code = ExitCode.UNDECIDED
