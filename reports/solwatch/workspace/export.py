"""Copies of the files at a commit in a folder of their own, the user's working tree and index untouched."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from solwatch.model.record import Commit
from solwatch.workspace.files import disk_errors
from solwatch.workspace.git import Repository
from solwatch.workspace.tree import SUBMODULE, entries_of, files_at, plain_paths, submodule

# With an index of our own: no hook hears of it, and nothing of the user's decides what lies in it or beside it.
_OWN_INDEX = [
    option
    for setting in ("hooksPath=/dev/null", "sparseCheckout=false", "splitIndex=false", "fsmonitor=false")
    for option in ("-c", f"core.{setting}")
]


def export(repository: Repository, commit: Commit, dest: Path, inputs: Sequence[str] | None = None) -> None:
    """Copy the files at ``commit`` (only those under ``inputs``, when given) into the new folder ``dest``.

    The files are as git checks them out: attributes meant for archives leave nothing out and fill nothing in.
    Submodules under ``inputs`` come along, those of a whole commit stay empty. The user's working tree and
    index are not touched. Raises ``MachineError`` when the disk is full.
    """
    with disk_errors(dest):
        dest.mkdir(parents=True)
        if commit.dirty:
            for path in files_at(repository, commit, inputs if inputs is not None else ["."]):
                _copy(repository.root / os.fsdecode(path), dest / os.fsdecode(path))
        else:
            _check_out(repository, commit.sha, None if inputs is None else plain_paths(inputs), dest)


def _check_out(repository: Repository, sha: str, inputs: Sequence[str] | None, dest: Path) -> None:
    """Write the files under ``inputs`` (all without them) into the folder ``dest``, by an index of our own."""
    git_dir = os.fsdecode(repository.run("rev-parse", "--absolute-git-dir").stdout.removesuffix(b"\n"))
    with tempfile.TemporaryDirectory(prefix=".index.", dir=dest.parent) as home:
        own = {"GIT_DIR": git_dir, "GIT_WORK_TREE": str(dest.absolute()), "GIT_INDEX_FILE": f"{home}/index"}
        repository.run("read-tree", sha, options=_OWN_INDEX, variables=own)
        if inputs is None:
            repository.run("checkout-index", "--all", options=_OWN_INDEX, variables=own)
            return
        entries = entries_of(repository, sha, inputs)
        listed = b"".join(path + b"\0" for path in entries)
        repository.run("checkout-index", "-z", "--stdin", options=_OWN_INDEX, variables=own, stdin=listed)
    for path, (mode, commit) in entries.items():
        if mode == SUBMODULE:
            _check_out(submodule(repository, path, commit), commit, ["."], dest / os.fsdecode(path))


def _copy(source: Path, dest: Path) -> None:
    dest.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, dest, follow_symlinks=False)
