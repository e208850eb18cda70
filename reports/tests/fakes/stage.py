"""A stage without a GPU: it notes what is enqueued, and its clock moves by what the work takes."""

from dataclasses import dataclass, field

from solwatch.device.launch_slots import SLOTS

FLUSH_S, NULL_S = 30e-6, 3e-6


@dataclass
class FakeGate:
    """A gate that notes holds and releases; ``opened_by_watchdog`` is the test's to set."""

    log: list[str]
    opened_by_watchdog: int = 0

    def hold(self, stream: object) -> None:
        self.log.append("hold")

    def release(self) -> None:
        self.log.append("release")


@dataclass
class FakeStage:
    """Runs everything at once in simulated time; events are instants of it."""

    host_s: float = 0.0
    now: float = 0.0
    handle: str = "stream"
    flush_s: float = FLUSH_S
    log: list[str] = field(default_factory=list)
    waited: int = 0

    def __post_init__(self) -> None:
        self.gate = FakeGate(self.log)

    def clock(self) -> float:
        return self.now

    def flush(self) -> None:
        self.work("flush", FLUSH_S)

    def vary(self, what: str) -> None:
        self.log += ["varying"] * (SLOTS - 1)  # the most there can be

    def launched(self, count: int) -> None:
        pass

    def null(self) -> None:
        self.work("null", NULL_S)

    def work(self, name: str, duration_s: float) -> None:
        self.log.append(name)
        self.now += duration_s

    def mark(self) -> float:
        self.log.append("mark")
        return self.now

    def seconds(self, start: float, end: float) -> float:
        return end - start

    def wait(self, event: float) -> None:
        self.log.append("wait")

    def recycle(self, *events: float) -> None:
        pass

    def synchronize(self) -> None:
        self.log.append("synchronize")
        self.now += self.host_s
