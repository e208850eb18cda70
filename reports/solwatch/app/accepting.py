"""The plot of ``accept``: a slowdown that is meant is written down, for review."""

import difflib
import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Literal

from solwatch.app.acceptances import day_of
from solwatch.app.preview import cells_seen
from solwatch.app.processes import ForkServer
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.model.acceptance import MOST_DAYS, Acceptance
from solwatch.model.config import Config
from solwatch.model.errors import RequestError
from solwatch.model.ports import Clock
from solwatch.workspace.acceptances import FILE, checked_acceptance, read_acceptances, write_acceptance
from solwatch.workspace.git import Repository

USUAL_DAYS = 90


@dataclass(frozen=True, kw_only=True)
class Accepting:
    """What was asked. ``share``: the slowdown, a fraction. ``owner``: ``None`` for git's user.

    ``days``, ``expires``: how long it holds, the usual time without either. ``beside``: what to do about an
    entry for the same cell: its ``replace``ment renews or corrects it, a ``further`` one is another slowdown.
    """

    cell: str
    share: float
    reason: str
    owner: str | None = None
    days: int | None = None
    expires: date | None = None
    beside: Literal["refuse", "replace", "further"] = "refuse"


def accept(
    asked: Accepting,
    repository: Repository,
    config: Config,
    clock: Clock,
    environment: Mapping[str, str],
    say: Callable[[str], None],
) -> Acceptance:
    """Write the acceptance into the repository's file and return it; raises ``RequestError``, nothing written."""
    today, path = day_of(clock), repository.root / FILE
    standing = [each for each in read_acceptances(path, today) if each.cell == asked.cell]
    if standing and asked.beside == "refuse":
        raise RequestError(
            f"{asked.cell} has an acceptance of {100 * standing[-1].max:g} % until {standing[-1].expires} in {FILE}: "
            "--replace renews or corrects it, --further accepts one more slowdown on top of it"
        )
    replaced = standing[-1:] if asked.beside == "replace" else []
    given = {
        "cell": asked.cell,
        "max": asked.share,
        "reason": asked.reason,
        "owner": asked.owner if asked.owner is not None else _user(repository),
        # A replacement is still about the old slowdown: a base that has that must not let another one through.
        "commit": replaced[0].commit if replaced else repository.resolve("HEAD").sha,
        "created": today,
        "expires": _expiry(asked, today),
    }
    entry = checked_acceptance(given, "the command line", today)
    _require_cell(entry, repository.root, config, environment, say)
    write_acceptance(path, entry, replaced, today)
    return entry


def _user(repository: Repository) -> str:
    user = repository.user()
    if user is None:
        raise RequestError("git knows no user.name here: say with --owner who answers for the slowdown")
    return user


def _expiry(asked: Accepting, today: date) -> date:
    expires = asked.expires or today + timedelta(days=asked.days or USUAL_DAYS)
    latest = today + timedelta(days=MOST_DAYS)
    if not today < expires <= latest:
        raise RequestError(f"--expires is {expires}: allowed is a day after today, {today}, and up to {latest}")
    return expires


def _require_cell(
    entry: Acceptance, root: Path, config: Config, environment: Mapping[str, str], say: Callable[[str], None]
) -> None:
    """Raise ``RequestError`` when no cell of the working tree's suite answers to ``entry``.

    A suite that can't be listed whole before it is built may have it: that is said, and nothing refused.
    """
    allowed = {
        name: value
        for name, value in environment.items()
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in config.environment)
    }
    with ForkServer(allowed, root / config.records / "logs" / "preview", measures=False) as server:
        cells, whole = cells_seen(server, root / config.benchmarks, config.hang_s)
    keys = [info.key for info in cells]
    if entry.cell == NULL_KERNEL or any(entry.covers(key, keys) for key in keys):
        return
    if whole:
        raise RequestError(f"no cell of the suite answers to {entry.cell!r}: {_nearest(entry.cell, keys)}")
    say(f"warning: {entry.cell} was not found, but the suite can't be listed whole before it is built: check it")


def _nearest(cell: str, keys: Sequence[str]) -> str:
    near = difflib.get_close_matches(cell, keys, n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else f"its first cells are {', '.join(keys[:5]) or 'none'}"
