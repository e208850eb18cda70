"""The console's entry: an interrupt has its message and its exit code from the first import on."""

import os
import signal
from types import FrameType


def main() -> None:
    """Import the command line and run it; before it listens itself, Ctrl-C ends the process with 130."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not when whoever started us ignores it
        signal.signal(signal.SIGINT, _leave)
    from solwatch.cli.main import main as run

    run()


def _leave(number: int, frame: FrameType | None) -> None:
    # An exception could come up in any import, which may catch it or leave half a module behind.
    os.write(2, b"solwatch: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
