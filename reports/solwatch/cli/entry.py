"""The console's entry: an interrupt has its message and its exit code from the first import on."""

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Import the command line and run it; before it listens itself, Ctrl-C ends the process with 130.

    What can't be imported ends it with 3: Python's own 1 would say that a commit is slower, or does not build.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not when whoever started us ignores it
        signal.signal(signal.SIGINT, _leave)
    try:
        from solwatch.cli.main import main as run
    except Exception as error:
        said = f"solwatch: this installation is broken ({type(error).__name__}: {error}): install solwatch again"
        os.write(2, ascii(said)[1:-1].encode() + b"\n")
        sys.exit(3)
    run()


def _leave(number: int, frame: FrameType | None) -> None:
    # An exception could come up in any import, which may catch it or leave half a module behind.
    os.write(2, b"solwatch: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
