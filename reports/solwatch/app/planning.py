"""The plot of ``ci plan``: from an event to two commits, and whether there is anything to measure."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from solwatch.app.reference import pinned_reference
from solwatch.model.ci_event import NO_COMMIT, Event
from solwatch.model.ci_plan import Plan
from solwatch.model.config import Config
from solwatch.model.errors import RequestError
from solwatch.model.record import Commit
from solwatch.workspace.changes import BUILD, ELSEWHERE, SETTINGS, SUITE, changed_files, merge_base
from solwatch.workspace.files import read_whole
from solwatch.workspace.git import UNSHALLOW, Repository

COMMAND_LINE = "command line"
REFERENCE = "reference"

_Sides = tuple[Commit | None, Commit]


def planned(repository: Repository, config: Config, name: str, event: Event, head: str = "HEAD") -> Plan:
    """Return what the event ``name`` asks for; ``head``: the commit that is checked out for it.

    Raises ``RequestError`` for an event that is not known or lacks what it should have, and for unknown commits.
    """
    if name not in _KNOWN:
        raise RequestError(f"event {name!r} is not known: allowed are {', '.join(_KNOWN)}; or give BASE and HEAD")
    if name == "push" and event.after == NO_COMMIT:
        return Plan(event=name, base=None, head=None, needed=False, reason="the branch was deleted")
    base, tip = _KNOWN[name](repository, event, head)
    return _plan(repository, config, name, base, tip)


def planned_between(repository: Repository, config: Config, base: str, head: str) -> Plan:
    """Return the plan for two commits that were named; raises ``RequestError`` for unknown ones."""
    return _plan(repository, config, COMMAND_LINE, repository.resolve(base), repository.resolve(head))


def planned_against_reference(repository: Repository, config: Config, machine: str) -> Plan:
    """Return the plan for HEAD against the pinned reference; ``machine``: whose results ``best`` goes by.

    Raises ``RequestError`` when there is a setting and it names nothing.
    """
    head = repository.resolve("HEAD")
    if config.reference is None:
        said = "no reference is pinned: the setting is 'reference'"
        return Plan(event=REFERENCE, base=None, head=head.sha, needed=False, reason=said)
    base = repository.resolve(pinned_reference(repository, config, head, machine).commit)
    if base.sha == head.sha:
        return Plan(event=REFERENCE, base=base.sha, head=head.sha, needed=False, reason="HEAD is the reference itself")
    said = "measured against the pinned reference, whatever changed"
    return Plan(event=REFERENCE, base=base.sha, head=head.sha, needed=True, reason=said)


def read_event(path: Path) -> Event:
    """Return the event in ``path``; raises ``RequestError`` when it isn't one."""
    try:
        return msgspec.json.decode(read_whole(path), type=Event)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RequestError(f"{path} is not an event of GitHub Actions ({error})") from error


def _plan(repository: Repository, config: Config, event: str, base: Commit | None, head: Commit) -> Plan:
    if base is None:
        said = "the first commit: there is nothing to compare it with"
        return Plan(event=event, base=None, head=head.sha, needed=False, reason=said)
    if event in _ASKED_FOR:
        return Plan(event=event, base=base.sha, head=head.sha, needed=True, reason="asked for, whatever changed")
    changed = changed_files(repository, base, head, config)
    return Plan(
        event=event,
        base=base.sha,
        head=head.sha,
        needed=any(changed[part] for part in (BUILD, SUITE, SETTINGS)),
        reason=_reason(changed),
    )


def _reason(changed: Counter[str]) -> str:
    said = [f"{changed[part]} in {part}" for part in (BUILD, SUITE, SETTINGS) if changed[part]]
    if said:
        return f"files changed: {', '.join(said)}"
    return f"nothing changed in {BUILD}, {SUITE} or {SETTINGS}; files elsewhere: {changed[ELSEWHERE]}"


def _push(repository: Repository, event: Event, head: str) -> _Sides:
    tip = repository.resolve(event.after or head)
    if event.before in (None, NO_COMMIT):
        return repository.parent(tip), tip
    if repository.holds(event.before):
        return repository.resolve(event.before), tip
    if repository.depth().shallow:  # it may be there, and the parent would leave out what was pushed before the tip
        raise RequestError(f"{event.before[:8]}, what the branch was before, is not in this shallow clone: {UNSHALLOW}")
    return repository.parent(tip), tip  # its history was rewritten


def _pull_request(repository: Repository, event: Event, head: str) -> _Sides:
    if event.pull_request is None:
        raise _lacks("pull_request")
    onto, tip = (repository.resolve(one.sha) for one in (event.pull_request.base, event.pull_request.head))
    base = merge_base(repository, onto, tip)
    if base is None:
        raise RequestError(
            f"{onto.sha[:8]} and {tip.sha[:8]} have no commit in common: fetch all of the history "
            "(`fetch-depth: 0` on actions/checkout), or rebase"
        )
    return base, tip


def _merge_group(repository: Repository, event: Event, head: str) -> _Sides:
    if event.merge_group is None:
        raise _lacks("merge_group")
    return repository.resolve(event.merge_group.base_sha), repository.resolve(event.merge_group.head_sha)


def _by_hand(repository: Repository, event: Event, head: str) -> _Sides:
    asked = event.inputs
    tip = _named(repository, asked.head) if asked and asked.head else repository.resolve(head)
    return (_named(repository, asked.base) if asked and asked.base else repository.parent(tip)), tip


def _named(repository: Repository, name: str) -> Commit:
    """Return a commit by name; a checkout has a local branch only for what it has checked out."""
    try:
        return repository.resolve(name)
    except RequestError:
        if not repository.holds(f"refs/remotes/origin/{name}"):
            raise
        return repository.resolve(f"refs/remotes/origin/{name}")


def _lacks(part: str) -> RequestError:
    return RequestError(f"the event's file has no {part}: is it the file of another event?")


_KNOWN: dict[str, Callable[[Repository, Event, str], _Sides]] = {
    "push": _push,
    "pull_request": _pull_request,
    "merge_group": _merge_group,
    "workflow_dispatch": _by_hand,
    "schedule": _by_hand,
}
_ASKED_FOR = frozenset({"workflow_dispatch", "schedule"})
