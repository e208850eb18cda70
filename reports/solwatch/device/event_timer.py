"""A clock that ticks in the GPU's own time, for pytest-benchmark's ``timer`` hook."""

import torch


class EventTimer:
    """A callable clock: seconds on the current CUDA stream since its first call.

    Each call records an event, waits for it and adds the time since the event before. The base is renewed at each
    call because CUDA returns elapsed times as 32-bit milliseconds, which lose microseconds over long spans. A
    difference of two calls holds the launch gap of the work between them: the stream is empty when it begins.
    """

    def __init__(self) -> None:
        """Start at zero at the first call."""
        self._previous: torch.cuda.Event | None = None
        self._elapsed_s = 0.0

    def __call__(self) -> float:
        """Return seconds since the first call."""
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's own lack of types
        event.record()
        event.synchronize()
        if self._previous is not None:
            self._elapsed_s += self._previous.elapsed_time(event) / 1e3
        self._previous = event
        return self._elapsed_s
