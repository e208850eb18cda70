"""The commits between two commits: along first parents, or all of them."""

from solwatch.model.bisection import PastCommit
from solwatch.model.errors import RequestError
from solwatch.model.record import Commit
from solwatch.workspace.git import Repository

_FORMAT = "%H%x00%P%x00%an%x00%cI%x00%s%x00%x00"


def commits_between(repository: Repository, good: Commit, bad: Commit, *, inside_merges: bool) -> list[PastCommit]:
    """Return ``good``, what descends from it on the way to ``bad``, and ``bad``; parents before children.

    At a merge the first parent that descends from ``good`` is followed; with ``inside_merges`` every one is. Commits
    that don't descend from ``good`` are left out: they lack what it has, and the merge that brings them stands for
    them. Raises ``RequestError`` unless ``bad`` descends from ``good``.
    """
    _require_descent(repository, good, bad)
    listed = _listed(repository, "--topo-order", "--reverse", "--ancestry-path", f"{good.sha}..{bad.sha}")
    first = _listed(repository, "--no-walk", good.sha)
    return first + (listed if inside_merges else _along_first_parents(first + listed))


def _along_first_parents(commits: list[PastCommit]) -> list[PastCommit]:
    by_sha = {commit.sha: commit for commit in commits}
    good, path = commits[0], [commits[-1]]
    while path[-1] is not good:
        path.append(next(by_sha[parent] for parent in path[-1].parents if parent in by_sha))
    return path[-2::-1]


def _listed(repository: Repository, *arguments: str) -> list[PastCommit]:
    output = repository.text("log", "--no-show-signature", f"--format={_FORMAT}", *arguments, "--")
    found = []
    for entry in output.split("\0\0\n"):
        if entry:
            sha, parents, author, date, subject = entry.split("\0")
            found.append(
                PastCommit(sha=sha, parents=parents.split(), author=author, committed_at=date, subject=subject)
            )
    return found


def _require_descent(repository: Repository, good: Commit, bad: Commit) -> None:
    if good.sha == bad.sha:
        raise RequestError(f"{good.name} and {bad.name} are one commit ({good.sha[:8]}): there is nothing between them")
    if _descends(repository, bad, good):
        return
    said = f"{bad.name} ({bad.sha[:8]}) does not descend from {good.name} ({good.sha[:8]})"
    if _descends(repository, good, bad):
        raise RequestError(f"{said}, it is the other way round: give GOOD first, then BAD")
    if repository.depth().shallow:
        raise RequestError(f"{said} in this shallow clone: run `git fetch --unshallow`")
    base = repository.run("merge-base", good.sha, bad.sha, check=False).stdout.decode().strip()
    raise RequestError(
        f"{said}: there is no line of commits from one to the other"
        + (f"; their merge base is {base[:8]}: is that good?" if base else "")
    )


def _descends(repository: Repository, later: Commit, earlier: Commit) -> bool:
    return repository.run("merge-base", "--is-ancestor", earlier.sha, later.sha, check=False).returncode == 0
