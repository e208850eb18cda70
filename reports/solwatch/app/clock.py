"""The real clock."""

import time
from datetime import datetime, timezone


class SystemClock:
    """Time as this machine tells it."""

    def monotonic(self) -> float:
        """Return seconds that never step back."""
        return time.monotonic()

    def now(self) -> str:
        """Return UTC as ISO 8601, to the second."""
        return datetime.now(timezone.utc).isoformat(timespec="seconds")
