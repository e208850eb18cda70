"""Which accepted slowdowns a gate takes into account: those that its head has and its base has not."""

from collections.abc import Callable
from datetime import date

from solwatch.model.acceptance import Acceptance
from solwatch.model.errors import RequestError
from solwatch.model.ports import Clock
from solwatch.model.record import Commit
from solwatch.workspace.acceptances import FILE, MOST_BYTES, parse_acceptances
from solwatch.workspace.git import Repository
from solwatch.workspace.tree import content_at


def day_of(clock: Clock) -> date:
    """Return the clock's day, UTC."""
    return date.fromisoformat(clock.now()[:10])


def accepted_between(
    repository: Repository, head: Commit, base: Commit | None, today: date, say: Callable[[str], None]
) -> list[Acceptance]:
    """Return the entries of head's file that base's does not have.

    Contents are compared, not histories: a squashed or rebased commit changes nothing. Once base has an entry, the
    accepted state is what later heads are compared with. Without a base there is nothing to accept. A file of base's
    that can't be read lets none of head's entries count, since any of them may be in it. Raises ``RequestError`` for
    a file of head's that is wrong.
    """
    entries = _entries(repository, head, today) if base else []
    if base is None or not entries:
        return []
    try:
        old = {entry.identity for entry in _entries(repository, base, today)}
    except RequestError as error:
        say(f"no accepted slowdown is taken into account, base may have them all: {error}")
        return []
    return [entry for entry in entries if entry.identity not in old]


def _entries(repository: Repository, commit: Commit, today: date) -> list[Acceptance]:
    content = content_at(repository, commit, FILE, MOST_BYTES)
    return parse_acceptances(content, f"{FILE} at {commit.name}", today) if content else []
