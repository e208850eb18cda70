"""Histories of results: a repository, a bare one that it pushes to, and asv's files for its commits."""

import json
import math
import os
import random
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from solwatch.app.history import History
from solwatch.asvio.resultfiles import Description, Measured, Samples, Value, write_results
from solwatch.workspace.files import write_atomically
from solwatch.workspace.git import Repository

LLAMA = "o_proj.OProj(16, 'llama')"
CELL = ("16", "'llama'")
OTHER = ("64", "'llama'")
BRANCH = "asv-results"
IDENTITY = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class FixedClock:
    """A clock that stands still."""

    def monotonic(self) -> float:
        return 0.0

    def now(self) -> str:
        return "2026-03-04T05:06:07+00:00"


def git(folder: Path, *arguments: str) -> str:
    """Return what git says in ``folder``."""
    environment = os.environ | IDENTITY | {"GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def bare(path: Path) -> Path:
    """Return a bare repository that has nothing."""
    subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
    return path


def project(path: Path, origin: Path, subjects: Sequence[str] = ("first",)) -> Path:
    """Return a repository with a commit for each subject, whose remote is ``origin``."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
    (path / ".gitignore").write_text("build/\n")
    git(path, "add", ".gitignore")
    for subject in subjects:
        git(path, "commit", "-q", "--allow-empty", "-m", subject)
    git(path, "remote", "add", "origin", str(origin))
    return path


def history(path: Path, *, branch: str = BRANCH, pause: Callable[[float], None] | None = None) -> History:
    """Return the history of the repository at ``path``."""
    return History(
        repository=Repository.open(path),
        results=path / "build" / "asv" / "results",
        remote="origin",
        branch=branch,
        clock=FixedClock(),
        pause=pause or (lambda seconds: None),
        dice=random.Random(1),
    )


def save(
    results: Path, sha: str, cells: Mapping[tuple[str, ...], Value | Sequence[float]], machine: str = "runner"
) -> None:
    """Keep times of ``sha``; a cell is its tokens and its layer."""
    described = Description(
        name="o_proj.OProj.track_time",
        params=[list(dict.fromkeys(cell[axis] for cell in cells)) for axis in range(2)],
        param_names=["tokens", "layer"],
        type="time",
        unit="seconds",
        version="1",
    )
    values = {cell: Samples(value) if isinstance(value, list) else value for cell, value in cells.items()}
    about = Measured(machine={"machine": machine}, commit=sha, date_ms=0, python="3.11")
    write_results(results, about, [described], {described.name: values}, write=write_atomically)  # type: ignore[dict-item]


def save_levels(path: Path, levels: Sequence[float], cell: tuple[str, str] = CELL) -> list[str]:
    """Keep one result for each of the newest commits, oldest first; NaN: no result. Return all first parents."""
    shas = git(path, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    for sha, level in zip(shas[-len(levels) :], levels, strict=True):
        if not math.isnan(level):
            save(path / "build" / "asv" / "results", sha, {cell: [level * factor for factor in (0.999, 1.0, 1.001)]})
    return shas


def results_of(path: Path) -> Path:
    """Return the folder of results of the repository at ``path``."""
    return path / "build" / "asv" / "results"


def on_branch(origin: Path) -> dict[str, bytes]:
    """Return the files on the branch of results."""
    names = git(origin, "ls-tree", "-r", "--name-only", BRANCH).splitlines()
    return {
        name: subprocess.run(
            ["git", "-C", str(origin), "cat-file", "blob", f"{BRANCH}:{name}"], check=True, capture_output=True
        ).stdout
        for name in names
    }


def commits(origin: Path) -> int:
    """Return how many commits the branch of results has."""
    return int(git(origin, "rev-list", "--count", BRANCH))


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files below ``folder``."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def times(content: bytes) -> list[float | None]:
    """Return the values of the only benchmark in a file of results."""
    document = json.loads(content)
    (row,) = document["results"].values()
    return row[document["result_columns"].index("result")]  # type: ignore[no-any-return]
