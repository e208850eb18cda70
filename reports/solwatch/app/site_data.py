"""What the site's "Speed of light" page is handed beside asv's graphs: limits, commits' subjects, pages of gates."""

import contextlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from solwatch.app.gate_pages import kept_pages
from solwatch.app.limits import kept_limits
from solwatch.model.errors import SolwatchError
from solwatch.model.history import GateRun, LimitRow
from solwatch.model.plain import plain
from solwatch.render.charts.browser import browser_charts, charts_version
from solwatch.workspace.files import read_whole, write_atomically
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import load_config

MOST_SUBJECT = 120
"""Characters of a commit's subject and of its author's name that are shown."""


@dataclass(frozen=True, kw_only=True)
class SiteData:
    """``subjects``: subject and author of commits by hash, safe to show. ``runs``: gates and their pages' files."""

    limits: list[LimitRow]
    subjects: dict[str, tuple[str, str]]
    runs: list[tuple[GateRun, Path]]


def site_data(root: Path, results: Path, commits: Iterable[str], say: Callable[[str], None]) -> SiteData:
    """Gather it for the repository at ``root``; what can't be had is said, and the page does without it."""
    limits: list[LimitRow] = []
    subjects: dict[str, tuple[str, str]] = {}
    runs: list[tuple[GateRun, Path]] = []
    try:
        limits = kept_limits(results)
    except SolwatchError as error:
        say(f"no MFU and no roofline: {error}")
    try:
        repository = Repository.open(root)
        subjects = _subjects(repository, commits)
        runs = list(kept_pages(repository.root / load_config(repository.root).records))
    except SolwatchError as error:
        say(f"no subjects of commits, no pages of gates: {error}")
    return SiteData(limits=limits, subjects=subjects, runs=runs)


def charts_script() -> bytes:
    """Return the script that draws the charts, kept in the user's home because making it takes seconds."""
    path = Path(os.path.expanduser("~/.solwatch/charts")) / f"{charts_version()}.js"
    with contextlib.suppress(SolwatchError):
        return read_whole(path)
    made = browser_charts()
    with contextlib.suppress(SolwatchError):
        write_atomically(path, made)
    return made


def _subjects(repository: Repository, commits: Iterable[str]) -> dict[str, tuple[str, str]]:
    wanted = "".join(f"{commit}\n" for commit in commits).encode()
    if not wanted:
        return {}
    said = repository.run("log", "--no-walk=unsorted", "--stdin", "-z", "--format=%H%x00%an%x00%s", stdin=wanted)
    fields = said.stdout.decode(errors="replace").split("\0")
    return {
        sha: (plain(subject, MOST_SUBJECT), plain(author, MOST_SUBJECT))
        for sha, author, subject in zip(fields[::3], fields[1::3], fields[2::3], strict=False)
    }
