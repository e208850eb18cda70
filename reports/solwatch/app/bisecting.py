"""The plot of ``bisect``: gate after gate of a commit against good, until the first slower one is known."""

import dataclasses
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from solwatch import __version__
from solwatch.app.candidates import Candidates, candidates, missing_build
from solwatch.app.gate import compare
from solwatch.app.outcome import Outcome
from solwatch.app.selection import expressions_of
from solwatch.app.session import Request, Services
from solwatch.judge.bisecting import Search, Step, concluded, next_step
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.model.bisection import Asked, Bisection, Figure, Found, GateTaken, PastCommit
from solwatch.model.cell import CellSelection
from solwatch.model.errors import HeadBuildError, MachineError, NothingMeasuredError, RequestError, SolwatchError
from solwatch.model.verdict import Reason, Verdict
from solwatch.render.bisecting import gate_line, step_line
from solwatch.workspace.bisections import SCHEMA, bisection_path, read_bisection, write_bisection
from solwatch.workspace.locks import FileLock

_VANISHED = Figure(verdict=Verdict.BROKEN, reason=Reason.VANISHED)

Gate = Callable[[Request, Services], Outcome]


@dataclass(frozen=True, kw_only=True)
class Bisecting:
    """What was asked: ``request`` has good as base and bad as head.

    ``every_cell``: go on for cells that another commit made slower. ``inside_merges``: follow every parent.
    ``fresh``: take no gate of an earlier call. ``most_untestable``: where the search is given up.
    """

    request: Request
    every_cell: bool = False
    inside_merges: bool = False
    fresh: bool = False
    most_untestable: int = 12


def bisect(asked: Bisecting, services: Services, gate: Gate = compare) -> Found:
    """Return where bad became slower than good; gates that an earlier call took are gone on from.

    Raises ``RequestError`` for commits that are no range, ``NothingMeasuredError`` when nothing differs between them.
    """
    expressions_of(asked.request.selection)  # a request that makes no sense is refused before git is asked
    asked = _without_floors(asked)
    found = candidates(asked.request, services, inside_merges=asked.inside_merges)
    commits, keys = found.commits, found.keys
    wanted = _asked(asked, services, commits, keys)
    path = bisection_path(services.repository.root / asked.request.config.records, wanted)
    with _held(path, services):
        gates, anew = [] if asked.fresh else _kept(path, wanted, commits, services.say), False

        def search() -> Search:
            return Search(
                commits=commits,
                keys=keys,
                gates=gates,
                every_cell=asked.every_cell,
                most_untestable=asked.most_untestable,
            )

        while (step := next_step(search())) is not None:
            services.say(step_line(commits, step, len(gates) + 1))
            try:
                taken = _taken(asked, services, gate, found, step)
            except (KeyboardInterrupt, SolwatchError):
                if gates:
                    services.say(f"gates taken are kept ({len(gates)}): the same command goes on from there")
                raise
            differences = _differences(gates, taken)
            if differences:
                _start_anew(differences, again=anew, say=services.say)
                gates, anew = [gate for gate in gates if gate.fingerprint is None], True
            gates = [*gates, taken]
            # what a fuller folder of builds has, the next call measures
            kept = [gate for gate in gates if gate.head not in found.missing]
            write_bisection(path, Bisection(schema=SCHEMA, asked=wanted, gates=kept))
            services.say(gate_line(commits[step.head], taken))
    return concluded(search(), wanted)


def _without_floors(asked: Bisecting) -> Bisecting:
    """Leave SOL floors out: a cell below its floor would not say whether it is slower."""
    config = asked.request.config
    cells = [msgspec.structs.replace(cell, sol_floor=None) for cell in config.cells]
    request = dataclasses.replace(asked.request, config=msgspec.structs.replace(config, cells=cells))
    return dataclasses.replace(asked, request=request)


def _asked(asked: Bisecting, services: Services, commits: Sequence[PastCommit], keys: Sequence[str]) -> Asked:
    request = asked.request
    return Asked(
        good=commits[0].sha,
        bad=commits[-1].sha,
        good_key=keys[0],
        bad_key=keys[-1],
        inside_merges=asked.inside_merges,
        device=request.device,
        gpus=request.gpus,
        cell_set=request.selection.named_set or "",
        patterns=list(request.selection.patterns),
        rounds=request.rounds,
        config=request.config,
        solwatch=__version__,
        machine=services.machine,
    )


@contextmanager
def _held(path: Path, services: Services) -> Iterator[None]:
    lock = FileLock(path.with_suffix(".lock"))
    lock.acquire(lambda holder: services.say(f"waiting for process {holder}, which is at the same bisection"))
    with lock:
        yield


def _kept(path: Path, wanted: Asked, commits: Sequence[PastCommit], say: Callable[[str], None]) -> list[GateTaken]:
    """Return the gates of an earlier call that may be gone on from."""
    kept = read_bisection(path)
    if kept is None:
        return []
    differences = kept.asked.differences(wanted)
    known = {commit.sha for commit in commits}
    if any(sha not in known for gate in kept.gates for sha in (gate.base, gate.head)):
        differences.append("commits between good and bad")
    if differences:
        say(f"starting anew: the gates of the last call were taken with other {', '.join(differences)}")
        return []
    count = len(kept.gates)
    say(f"going on from {count} gate{'s' if count != 1 else ''} of an earlier call (--fresh starts anew)")
    return kept.gates


def _differences(gates: Sequence[GateTaken], taken: GateTaken) -> list[str]:
    """Return in what the device and software of ``taken`` differ from those of the gates before."""
    if taken.fingerprint is None:
        return []
    found = (gate.fingerprint.differences(taken.fingerprint) for gate in gates if gate.fingerprint is not None)
    return next((differences for differences in found if differences), [])


def _start_anew(differences: Sequence[str], *, again: bool, say: Callable[[str], None]) -> None:
    """Say that gates of another device are dropped; raises ``MachineError`` when the device changes ``again``."""
    said = "; ".join(differences)
    if again:
        raise MachineError(f"the device is another one from gate to gate ({said}): keep it as it is, then run again")
    say(f"starting anew: the gates before this one were measured elsewhere ({said})")


def _taken(asked: Bisecting, services: Services, gate: Gate, among: Candidates, step: Step) -> GateTaken:
    """Take one gate; what makes its head unmeasurable is its result, unless that is bad itself."""
    base, head = among.commits[step.base].sha, among.commits[step.head].sha
    created_at, started_s = services.clock.now(), services.clock.monotonic()
    if head in among.missing:
        why = missing_build(asked.request.builds)
        return GateTaken(base=base, head=head, created_at=created_at, wall_s=0.0, failed=why)
    among.require(head)
    outcome, failed = None, None
    try:
        outcome = gate(_request(asked.request, base, head, step.cells), services)
    except HeadBuildError as error:
        if not step.cells:
            raise RequestError(f"BAD does not build, there is nothing to search: name one that does\n{error}") from None
        failed = f"does not build: {_how(error)}"
    except (NothingMeasuredError, RequestError) as error:
        if not step.cells:
            raise
        failed = str(error).splitlines()[0]
    wall_s = services.clock.monotonic() - started_s
    if outcome is None:
        return GateTaken(base=base, head=head, created_at=created_at, wall_s=wall_s, failed=failed)
    for warning in outcome.kept.warnings:
        services.say(f"warning: {warning}")
    figures = {
        cell.key: Figure(verdict=cell.verdict, reason=cell.reason, slowdown_ratio=cell.slowdown_ratio)
        for cell in outcome.judgement.verdicts
    }
    cells = {key: figures.get(key, _VANISHED) for key in step.cells} or figures
    root = services.repository.root
    return GateTaken(
        base=base,
        head=head,
        created_at=created_at,
        wall_s=wall_s,
        cells=cells,
        rounds=len(outcome.record.rounds),
        record=os.path.relpath(outcome.kept.record, root),
        fingerprint=outcome.record.header.fingerprint,
    )


def _request(request: Request, base: str, head: str, cells: Sequence[str]) -> Request:
    """Return the request of one gate; the null kernel is no cell of the suite and comes along with any other."""
    patterns = tuple(f"^{re.escape(key)}$" for key in cells if key != NULL_KERNEL)
    selection = CellSelection(request.selection.named_set, patterns) if patterns else request.selection
    return dataclasses.replace(request, base=base, head=head, selection=selection, profile=False)


def _how(error: HeadBuildError) -> str:
    """Return how a build ended; its output is what ``solwatch gate`` shows."""
    return str(error).splitlines()[0].rpartition("does not build: ")[2]
