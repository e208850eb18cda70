"""What an exception that ends a command says, and the exit code that it means."""

import tempfile
import traceback

import click

from solwatch.model.errors import ExitCode, SolwatchError


def ending(error: BaseException) -> tuple[str, ExitCode]:
    """Return the message of ``error`` and its code of the documented table; only a verdict gives 1."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return "interrupted", ExitCode.INTERRUPTED
    if isinstance(error, click.UsageError):
        hint = f"; try '{error.ctx.command_path} --help'" if error.ctx else ""
        return f"{error.format_message().rstrip('.')}{hint}", ExitCode.USAGE
    if isinstance(error, click.ClickException):
        return error.format_message(), ExitCode.USAGE
    if isinstance(error, SolwatchError):
        return str(error), error.exit_code
    if isinstance(error, OSError):
        return f"{error.strerror or error}: {error.filename or 'standard output'}", ExitCode.UNTRUSTED
    return f"internal error: {type(error).__name__}: {error}; {_kept_trace(error)}", ExitCode.UNTRUSTED


def _kept_trace(error: BaseException) -> str:
    """Write the traceback to a file and say where."""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="solwatch-", suffix=".trace", delete=False) as kept:
            traceback.print_exception(type(error), error, error.__traceback__, file=kept)
    except OSError:
        return "the traceback could not be kept"
    return f"the traceback is in {kept.name}"
