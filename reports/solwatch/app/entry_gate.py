"""The plot of ``ci gate``: a verdict that is there already, or a gate; and the verdict as it is handed on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from solwatch import __version__
from solwatch.app.outcome import Outcome
from solwatch.app.policies import policy_digest
from solwatch.app.session import Request, Services, session
from solwatch.model.entry_verdict import MOST_CELLS, WORDS, EntryVerdict, Measured, Origin
from solwatch.model.errors import ExitCode
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.plain import plain
from solwatch.model.record import Commit
from solwatch.model.verdict import Verdict
from solwatch.render.headline import SEVERITY, headline
from solwatch.workspace.artifacts import found_in
from solwatch.workspace.changes import tree_of
from solwatch.workspace.git import Repository

VERDICT_FILE = "verdict.json"

_UNREMARKABLE = frozenset({Verdict.UNCHANGED, Verdict.NEW})


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where in a pipeline a gate runs: the fleet's entry, the workflow's run, its attempt, gate (1) or retry (2).

    ``host``: the machine's own name, which no setting changes.
    """

    entry: str
    host: str
    run: str | None
    attempt: int
    trial: int


def opened(place: Place, created_at: str) -> EntryVerdict:
    """Return the verdict of a gate that has reached nothing yet: interrupted, where nothing takes its place."""
    return EntryVerdict(
        entry=place.entry,
        code=130,
        word=WORDS[ExitCode.INTERRUPTED],
        text="the gate has not ended",
        solwatch=__version__,
        machine=place.host,
        run=place.run,
        attempt=place.attempt,
        trial=place.trial,
        created_at=created_at,
    )


def located(verdict: EntryVerdict, request: Request, services: Services) -> EntryVerdict:
    """Add what is known before measuring: commits, trees, policy; raises ``RequestError``."""
    repository = services.repository
    return msgspec.structs.replace(
        verdict,
        base=_measured(repository, repository.resolve(request.base or "")),
        head=_measured(repository, repository.resolve(request.head or "")),
        policy=policy_digest(request),
    )


def reused(verdict: EntryVerdict, request: Request, services: Services, earlier: Sequence[Path]) -> EntryVerdict | None:
    """Return the newest of the ``earlier`` verdicts that holds for these trees, this policy and this card.

    The card is asked only when one could hold: that takes as long as beginning to measure.
    """
    known = [one for one in _read(earlier, services.say) if _is_of(one, verdict)]
    if not known:
        return None
    fingerprint = _fingerprint(request, services)
    for one in sorted(known, key=lambda one: one.created_at, reverse=True):
        if one.fingerprint is not None and not one.fingerprint.differences(fingerprint):
            services.say(f"nothing is measured: run {one.run or one.created_at} had these trees, policy and card")
            return _taken_over(verdict, one)
    services.say("the verdict on these trees is of another card or another software: measuring")
    return None


def judged(verdict: EntryVerdict, outcome: Outcome, code: int) -> EntryVerdict:
    """Return the verdict of a gate that has ended with ``code``: the judgement's, or 3 when its page is missing."""
    header, judgement = outcome.record.header, outcome.judgement
    top = headline(outcome.record, judgement)
    lost = code != judgement.exit_code
    remarkable = [cell for cell in judgement.verdicts if cell.gated and cell.verdict not in _UNREMARKABLE]
    ratios = {cell.key: cell.slowdown_ratio.point if cell.slowdown_ratio else 0.0 for cell in remarkable}
    worst = sorted(remarkable, key=lambda cell: (SEVERITY.index(cell.verdict), -ratios[cell.key]))
    return msgspec.structs.replace(
        ended(verdict, code, "; ".join(outcome.kept.warnings) if lost else top.text),
        coverage=top.coverage,
        counts={Verdict(name): count for name, count in top.counts},
        cells=worst[:MOST_CELLS],
        fingerprint=header.fingerprint,
        gpus=[gpu.uuid for gpu in header.gpus if gpu.uuid],
    )


def ended(verdict: EntryVerdict, code: int, text: str) -> EntryVerdict:
    """Return the verdict with its end: a code of the documented table and one line."""
    known = code if code in WORDS else int(ExitCode.UNTRUSTED)
    return msgspec.structs.replace(verdict, code=known, word=WORDS[known], text=plain(text))


def _measured(repository: Repository, commit: Commit) -> Measured:
    return Measured(sha=commit.sha, tree=tree_of(repository, commit))


def _read(earlier: Sequence[Path], say: Callable[[str], None]) -> list[EntryVerdict]:
    found = [one for source in earlier for one in found_in(source, VERDICT_FILE, EntryVerdict)]
    for one in found:
        if one.problem:
            say(f"not reused: {one.where}: {one.problem}")
    return [one.value for one in found if one.value is not None]


def _is_of(one: EntryVerdict, verdict: EntryVerdict) -> bool:
    """Return whether ``one`` is a decision on the same content by the same policy."""
    if one.base is None or one.head is None or verdict.base is None or verdict.head is None:
        return False
    same_trees = (one.base.tree, one.head.tree) == (verdict.base.tree, verdict.head.tree)
    return same_trees and one.policy == verdict.policy and one.code in (ExitCode.OK, ExitCode.SLOWER)


def _fingerprint(request: Request, services: Services) -> Fingerprint:
    with session(request, services) as ready:
        return ready.header.fingerprint


def _taken_over(verdict: EntryVerdict, one: EntryVerdict) -> EntryVerdict:
    origin = one.reused or Origin(run=one.run, attempt=one.attempt, created_at=one.created_at, machine=one.machine)
    return msgspec.structs.replace(
        one,
        entry=verdict.entry,
        base=verdict.base,
        head=verdict.head,
        run=verdict.run,
        attempt=verdict.attempt,
        trial=verdict.trial,
        created_at=verdict.created_at,
        reused=origin,
    )
