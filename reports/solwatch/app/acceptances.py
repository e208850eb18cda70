"""Which accepted slowdowns a gate takes into account: those that its head has and its base has not."""

from collections import Counter
from collections.abc import Callable, Sequence
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
        old = _entries(repository, base, today)
    except RequestError as error:
        say(f"no accepted slowdown is taken into account, base may have them all: {error}")
        return []
    return _added(entries, old)


def _added(entries: Sequence[Acceptance], old: Sequence[Acceptance]) -> list[Acceptance]:
    """Return the ``entries`` that stand for a slowdown which ``old`` has not.

    One that was edited still stands for its old slowdown, by its identity. Of several with one identity, which two
    branches from one commit may write, as many are old as ``old`` has: equal ones first, then those further up.
    """
    left, changed = list(old), []
    for entry in entries:
        if entry in left:
            left.remove(entry)
        else:
            changed.append(entry)
    edited = Counter(entry.identity for entry in left)
    added = []
    for entry in changed:
        if edited[entry.identity]:
            edited[entry.identity] -= 1
        else:
            added.append(entry)
    return added


def _entries(repository: Repository, commit: Commit, today: date) -> list[Acceptance]:
    content = content_at(repository, commit, FILE, MOST_BYTES)
    return parse_acceptances(content, f"{FILE} at {commit.name}", today) if content else []
