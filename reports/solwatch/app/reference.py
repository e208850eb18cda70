"""The commit that creep is measured against: pinned by name, the last release, or the best segment of history.

Whatever chooses it, it is only a commit: it is built and measured in fresh rounds, stored times are never compared.
"""

import dataclasses
import fnmatch

from solwatch.app.session import Request, Services
from solwatch.asvio.history import best_commit, times_by_commit
from solwatch.model.config import Config
from solwatch.model.errors import RequestError
from solwatch.model.record import Commit
from solwatch.model.reference import BEST, LAST_RELEASE, Reference
from solwatch.workspace.git import Repository


def against_reference(request: Request, services: Services) -> Request:
    """Return ``request`` with the pinned reference as its base, and say which one that is."""
    repository = services.repository
    head = repository.working_tree() if request.head is None else repository.resolve(request.head)
    reference = pinned_reference(repository, request.config, head, services.machine)
    services.say(f"the reference is {reference.commit}: {reference.why}")
    return dataclasses.replace(request, base=reference.commit, reference=reference)


def pinned_reference(repository: Repository, config: Config, head: Commit, machine: str) -> Reference:
    """Return the reference for ``head`` that the setting ``reference`` asks for; raises ``RequestError``."""
    if config.reference is None:
        raise RequestError(
            f"there is no reference to compare with: set reference in [tool.solwatch] to a tag or commit, "
            f'"{LAST_RELEASE}" or "{BEST}"'
        )
    if config.reference == LAST_RELEASE:
        return _last_release(repository, config, head)
    if config.reference == BEST:
        return _best(repository, config, head, machine)
    named = repository.resolve(config.reference)
    return Reference(setting=config.reference, commit=named.name, why="pinned by name in [tool.solwatch]")


def _last_release(repository: Repository, config: Config, head: Commit) -> Reference:
    tags = fnmatch.filter(repository.tags(head), config.release_tags)
    for tag in tags:
        # A release is compared with the one before it, not with itself.
        if head.dirty or repository.resolve(f"tags/{tag}").sha != head.sha:
            why = f"the newest tag that matches {config.release_tags} and that {head.name} descends from"
            return Reference(setting=LAST_RELEASE, commit=f"tags/{tag}", why=why)
    shallow = " (this clone is shallow: fetch the whole history and its tags)" if repository.depth().shallow else ""
    raise RequestError(
        f"there is no release before {head.name}: no tag in its history matches release_tags = "
        f"{config.release_tags!r}; tag one, or set reference in [tool.solwatch] to a commit{shallow}"
    )


def _best(repository: Repository, config: Config, head: Commit, machine: str) -> Reference:
    order = repository.history(head)
    if not head.dirty:
        order.remove(head.sha)
    results = repository.root / config.results
    times = times_by_commit(results, machine, order)
    best = best_commit(order, times)
    if best is None:
        raise RequestError(
            f"{results / machine} has no times of a commit before {head.name}: the best segment of history needs some; "
            "run asv or the gate on this machine first, or set reference in [tool.solwatch] to a commit"
        )
    count = sum(commit in times for commit in order)
    timed = f"{count} commit{'s' if count != 1 else ''}"
    why = f"the newest commit of the best segment of asv's history on this machine, of {timed} with times"
    return Reference(setting=BEST, commit=best, why=why)
