"""The line of first parents that leads to HEAD: the history that results are laid along."""

from solwatch.model.errors import RequestError
from solwatch.model.record import Commit
from solwatch.workspace.git import Repository


def first_parents(repository: Repository) -> dict[str, int]:
    """Return the position of each commit on HEAD's line of first parents, 0 for the oldest that the clone has."""
    listed = repository.text("rev-list", "--first-parent", "--reverse", "HEAD").split()
    return {sha: position for position, sha in enumerate(listed)}


def position_of(repository: Repository, name: str, order: dict[str, int]) -> int:
    """Return the position of the commit ``name``; raises ``RequestError`` when it isn't on that line."""
    commit = repository.resolve(name)
    if commit.sha not in order:
        raise RequestError(f"{name} is not among HEAD's first parents: name a commit of the branch that is checked out")
    return order[commit.sha]


def commits_between(repository: Repository, good: str, bad: str, most: int) -> list[Commit]:
    """Return the first parents after ``good`` up to ``bad``, newest first, at most ``most``."""
    said = repository.text(
        "log", "--first-parent", f"--max-count={most}", "-z", "--format=%H%x01%s%x01%cI", f"{good}..{bad}"
    )
    found = [entry.split("\x01") for entry in said.split("\0") if entry]
    return [
        Commit(sha=sha, name=sha, subject=subject, committed_at=date)
        for sha, *rest, date in found
        for subject in ["\x01".join(rest)]
    ]
