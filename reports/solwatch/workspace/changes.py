"""What differs between two commits of all that can change a time."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from solwatch.model.config import Config
from solwatch.model.record import Commit
from solwatch.workspace.acceptances import FILE as ACCEPTANCES
from solwatch.workspace.git import Repository
from solwatch.workspace.tree import attributes_above, plain_paths

BUILD = "the build inputs"
SUITE = "the suite"
SETTINGS = "the settings"
ELSEWHERE = "elsewhere"

_SETTINGS_FILES = frozenset(map(PurePosixPath, ("pyproject.toml", "solwatch.toml", ACCEPTANCES)))


def changed_files(repository: Repository, base: Commit, head: Commit, config: Config) -> Counter[str]:
    """Return how many files differ in each part; a file that was moved differs in both of its places."""
    names = repository.run(
        "diff", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=none", "-z",
        base.sha, head.sha, "--",
    ).stdout  # fmt: skip
    given = config.build_inputs
    inputs = [PurePosixPath(path) for path in [*plain_paths(given), *attributes_above(given)]]
    paths = [PurePosixPath(os.fsdecode(name)) for name in names.split(b"\0") if name]
    return Counter(_part(path, inputs, PurePosixPath(config.benchmarks)) for path in paths)


def merge_base(repository: Repository, one: Commit, two: Commit) -> Commit | None:
    """Return the newest commit that both descend from, ``None`` for unrelated histories."""
    found = repository.run("merge-base", one.sha, two.sha, check=False).stdout.decode().strip()
    return repository.resolve(found) if found else None


def tree_of(repository: Repository, commit: Commit) -> str:
    """Return the hash of all that ``commit`` holds: equal for two commits with the same files."""
    return repository.text("rev-parse", "--verify", f"{commit.sha}^{{tree}}").strip()


def _part(path: PurePosixPath, inputs: Sequence[PurePosixPath], suite: PurePosixPath) -> str:
    if path in _SETTINGS_FILES:
        return SETTINGS
    if any(path.is_relative_to(given) for given in inputs):
        return BUILD
    return SUITE if path.is_relative_to(suite) else ELSEWHERE
