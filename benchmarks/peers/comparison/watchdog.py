"""Notices a kernel that never ends: whoever waits for it can't."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PERIOD_S = 0.2


class Watchdog:
    """Calls ``bite`` with a sentence, in a thread of its own, when something watched takes longer than its limit."""

    def __init__(self, bite: Callable[[str], None]) -> None:
        """Begin with nothing watched."""
        self._bite = bite
        self._watched: tuple[str, float, float] | None = None
        threading.Thread(target=self._look, name="peers-watchdog", daemon=True).start()

    @contextmanager
    def watching(self, what: str, limit_s: float) -> Iterator[None]:
        """Watch the block; not to be nested."""
        self._watched = (what, limit_s, time.monotonic() + limit_s)
        try:
            yield
        finally:
            self._watched = None

    def _look(self) -> None:
        while True:
            time.sleep(PERIOD_S)
            watched = self._watched
            if watched is not None and time.monotonic() > watched[2]:
                self._bite(f"{watched[0]} has not ended after {watched[1]:.0f} s")
                return
