"""Histories and gates that answer at once, for tests of a search that would take hours on a card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fakes.records import CPU

from solwatch.judge.bisecting import Search, Step, next_step
from solwatch.model.bisection import Asked, Figure, GateTaken, PastCommit
from solwatch.model.config import Config
from solwatch.model.errors import HeadBuildError
from solwatch.model.estimate import Estimate
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.verdict import CellVerdict, Reason, Verdict

UNDECIDED = Figure(verdict=Verdict.UNDECIDED, reason=Reason.NOISE)
CELL = "toy_suite.Toy(8)"
NO_BUILD = "does not build: exit code 1"


def figure(ratio: float) -> Figure:
    """Return what a gate says of a cell whose head takes ``ratio`` times as long: beyond 1 % it is decided."""
    estimate = Estimate(point=ratio, low=ratio - 0.002, high=ratio + 0.002, level=0.95, count=12)
    if ratio > 1.01:
        return Figure(verdict=Verdict.SLOWER, reason=Reason.ABOVE_MARGIN, slowdown_ratio=estimate)
    return Figure(verdict=Verdict.UNCHANGED, reason=Reason.WITHIN_MIN_EFFECT, slowdown_ratio=estimate)


def past(count: int, merge: int | None = None) -> list[PastCommit]:
    """Return a line of commits; ``merge``: one that has a second parent, which is not among them."""
    sha = [f"{number:08x}{'0' * 32}" for number in range(count)]
    return [
        PastCommit(
            sha=sha[number],
            parents=sha[max(0, number - 1) : number] + ["f" * 40] * (number == merge),
            author=f"author {number}",
            committed_at="2026-11-30T10:00:00+00:00",
            subject=f"change {number}",
        )
        for number in range(count)
    ]


@dataclass
class World:
    """What is true: ``times`` of each cell at each commit. ``odd``: what gates of a pair say instead, one by one.

    A string among those is a head that can't be measured.
    """

    times: dict[str, Sequence[float]]
    keys: Sequence[str] | None = None
    odd: dict[tuple[int, int], list[Figure | str]] = field(default_factory=dict)
    every_cell: bool = False
    most_untestable: int = 12
    gates: list[GateTaken] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(next(iter(self.times.values())))

    def search(self) -> Search:
        return Search(
            commits=past(self.count),
            keys=self.keys or [str(number) for number in range(self.count)],
            gates=list(self.gates),
            every_cell=self.every_cell,
            most_untestable=self.most_untestable,
        )

    def run(self) -> Search:
        """Take all gates that are asked for; never more than a search could need."""
        while (step := next_step(self.search())) is not None:
            assert len(self.steps) < 100, f"no end to it: {self.steps[-3:]}"
            self.steps.append(step)
            self.gates.append(self.gate(step))
        return self.search()

    def gate(self, step: Step) -> GateTaken:
        base, head = (past(self.count)[number].sha for number in (step.base, step.head))
        odd = self.odd.get((step.base, step.head), [])
        said = odd.pop(0) if odd else None
        taken = GateTaken(base=base, head=head, created_at="2026-11-30T11:00:00+00:00", wall_s=40.0)
        if isinstance(said, str):
            return GateTaken(base=base, head=head, created_at=taken.created_at, wall_s=3.0, failed=said)
        cells = step.cells or tuple(self.times)
        found = {cell: said or figure(self.times[cell][step.head] / self.times[cell][step.base]) for cell in cells}
        record = f"build/solwatch/records/20261130T1100{len(self.gates) + 1:02d}-{base[:8]}-{head[:8]}.jsonl"
        return GateTaken(base=base, head=head, created_at=taken.created_at, wall_s=40.0, cells=found, rounds=12,
                         record=record, fingerprint=CPU)  # fmt: skip


def asked(**given: Any) -> Asked:
    """Return what a bisection on a CPU has in common."""
    values: dict[str, Any] = {
        "good": "0" * 40, "bad": "9" * 40, "good_key": "g", "bad_key": "b", "inside_merges": False, "device": "cpu",
        "gpus": None, "cell_set": "standard", "patterns": [], "rounds": None, "config": Config(), "solwatch": "1",
        "machine": "m",
    }  # fmt: skip
    return Asked(**(values | given))


class FakeGate:
    """Stands for ``compare`` in a repository: ``times`` by subject of the commit, ``None`` where it lacks the cell.

    An exception is raised.

    ``fingerprints``: one for each gate, the last goes on. ``interrupts``: number of the gate at which Ctrl-C comes.
    """

    def __init__(
        self, times: Mapping[str, float | Exception | None], *, interrupts: int | None = None, cell: str = CELL
    ) -> None:
        self.times = times
        self.cell = cell
        self.interrupts = interrupts
        self.fingerprints: list[Fingerprint] = [CPU]
        self.taken: list[tuple[str, str]] = []
        self.requests: list[Any] = []

    def __call__(self, request: Any, services: Any) -> Any:
        subjects = [services.repository.resolve(name).subject for name in (request.base, request.head)]
        self.requests.append(request)
        if len(self.requests) == self.interrupts:
            raise KeyboardInterrupt
        self.taken.append((subjects[0], subjects[1]))
        base, head = (self.times[subject] for subject in subjects)
        if isinstance(head, Exception):
            raise head
        assert isinstance(base, float), "nothing is compared with a commit that can't be measured"
        one = figure((head or 1.0) / base)
        verdict = CellVerdict(
            key=self.cell if head is not None else "another", verdict=one.verdict, reason=one.reason, gated=True,
            slowdown_ratio=one.slowdown_ratio,
        )  # fmt: skip
        fingerprint = self.fingerprints.pop(0) if len(self.fingerprints) > 1 else self.fingerprints[0]
        return SimpleNamespace(
            judgement=SimpleNamespace(verdicts=[verdict]),
            record=SimpleNamespace(rounds=[None] * 12, header=SimpleNamespace(fingerprint=fingerprint)),
            kept=SimpleNamespace(
                record=Path(services.repository.root, f"build/solwatch/records/{len(self.taken)}.jsonl"), warnings=[]
            ),
        )


def no_build(name: str) -> HeadBuildError:
    """Return what a gate raises whose head doesn't compile."""
    return HeadBuildError(f"head is at fault: {name} does not build: exit code 1\nop.cu(3): error: expected a ;")
