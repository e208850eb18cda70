"""The user's repository, read and never changed: its commits, and git itself."""

import difflib
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from solwatch.model.errors import MachineError, RequestError, SolwatchError
from solwatch.model.record import Commit

UNSHALLOW = "run `git fetch --unshallow` (in GitHub Actions: `fetch-depth: 0` on actions/checkout)"
"""What to do about a shallow clone."""

# Set inside git hooks; they would point git at another repository than the folder asked for.
_REDIRECTING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")


@dataclass(frozen=True)
class Depth:
    """How much history a clone has: ``commits`` reachable from HEAD, and whether it was cut off."""

    shallow: bool
    commits: int


class Repository:
    """A git repository with a working tree."""

    def __init__(self, root: Path) -> None:
        """Use :meth:`open`."""
        self.root = root

    @classmethod
    def open(cls, path: Path | str) -> "Repository":
        """Return the repository that ``path`` (any folder in it) belongs to.

        Raises ``RequestError`` when there is no git, no repository or no commit, ``MachineError`` when git
        refuses it because another user owns it.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise RequestError(f"{folder} is not a folder")
        repository = cls(folder)
        result = repository.run("rev-parse", "--show-toplevel", check=False)
        if result.returncode != 0:
            raise _cannot_open(folder, result.stderr.decode(errors="replace"))
        repository.root = Path(os.fsdecode(result.stdout.removesuffix(b"\n")))
        if repository.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False).returncode != 0:
            raise RequestError(f"{repository.root} has no commit yet: commit something first")
        return repository

    def resolve(self, name: str) -> Commit:
        """Return the commit that ``name`` (branch, tag, sha, ``HEAD~2``) stands for.

        Raises ``RequestError`` with the nearest branch or tag names when there is none, and says so when the
        clone is shallow.
        """
        if not name or name.startswith("-") or any(mark in name for mark in "\n\0") or ".." in name:
            raise RequestError(f"{name!r} is not the name of one commit: give a branch, a tag or a commit hash")
        found = (
            self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", check=False)
            .stdout.decode()
            .strip()
        )
        if not found:
            raise RequestError(f"unknown commit {name!r}{self._hint(name)}")
        return self._describe(found, name)

    def holds(self, name: str) -> bool:
        """Return whether ``name`` (a hash or a full ref) is a commit that this clone has."""
        return self.run("cat-file", "-e", f"{name}^{{commit}}", check=False).returncode == 0

    def parent(self, commit: Commit) -> Commit | None:
        """Return the first parent, ``None`` for a first commit.

        Raises ``RequestError`` at the edge of a shallow clone.
        """
        # The raw object: log and rev-list hide the parents that a shallow clone lacks.
        text = self.text("cat-file", "commit", commit.sha)
        head, _, _ = text.partition("\n\n")
        parents = [line.split()[1] for line in head.splitlines() if line.startswith("parent ")]
        if not parents:
            return None
        if not self.holds(parents[0]):
            raise RequestError(f"the parent of {commit.name} is not in this shallow clone: {UNSHALLOW}")
        return self._describe(parents[0], f"{commit.name}^")

    def working_tree(self) -> Commit:
        """Return the files as they lie there: HEAD's sha, ``dirty``, named ``working tree``."""
        head = self._describe(self.text("rev-parse", "HEAD").strip(), "working tree")
        return Commit(sha=head.sha, name=head.name, subject=head.subject, committed_at=head.committed_at, dirty=True)

    def is_dirty(self) -> bool:
        """Return whether the working tree differs from HEAD, files unknown to git and not ignored included."""
        return bool(self.run("status", "--porcelain").stdout)

    def depth(self) -> Depth:
        """Return how much history there is."""
        return Depth(
            shallow=self.text("rev-parse", "--is-shallow-repository").strip() == "true",
            commits=int(self.text("rev-list", "--count", "HEAD")),
        )

    def tags(self, commit: Commit) -> list[str]:
        """Return the tags of ``commit`` and of the commits before it, the newest first."""
        return self.text(
            "for-each-ref", "--sort=-version:refname", "--sort=-creatordate", "--format=%(refname:strip=2)",
            f"--merged={commit.sha}", "refs/tags",
        ).splitlines()  # fmt: skip

    def history(self, commit: Commit) -> list[str]:
        """Return the hashes of ``commit`` and of all commits before it, the oldest first."""
        return self.text("rev-list", "--topo-order", "--reverse", commit.sha).split()

    def tracked(self, folder: Path) -> set[str]:
        """Return the paths below ``folder``, relative to it, that a commit brings along; none for a folder outside."""
        root, wanted = self.root.resolve(), folder.resolve()
        if not wanted.is_relative_to(root):
            return set()
        place = wanted.relative_to(root).as_posix()
        listed = self.run("ls-files", "-z", "--", place, options=["--literal-pathspecs"]).stdout.split(b"\0")
        return {os.path.relpath(os.fsdecode(path), place) for path in listed if path}

    def user(self) -> str | None:
        """Return who git says is at work here: a name, else an address."""
        for key in ("user.name", "user.email"):
            if said := self.run("config", "--get", key, check=False).stdout.decode(errors="replace").strip():
                return said
        return None

    def _describe(self, sha: str, name: str) -> Commit:
        found, subject, date = (
            self.text("show", "--no-patch", "--no-show-signature", "--format=%H%x00%s%x00%cI", sha)
            .rstrip("\n")
            .split("\0")
        )
        return Commit(sha=found, name=name, subject=subject, committed_at=date)

    def _hint(self, name: str) -> str:
        if self.depth().shallow:
            return f": this clone is shallow and may lack it; {UNSHALLOW}"
        listed = self.text("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
        near = difflib.get_close_matches(name, listed.split(), n=3, cutoff=0.5)
        return (
            f": did you mean {' or '.join(near)}?"
            if near
            else ": `git branch -a` and `git tag` list the names there are"
        )

    def text(self, *arguments: str) -> str:
        """Return what git prints."""
        return self.run(*arguments).stdout.decode(errors="replace")

    def run(
        self,
        *arguments: str,
        check: bool = True,
        stdin: bytes | None = None,
        options: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git in the repository; raises ``MachineError`` when it fails, unless ``check`` is false.

        ``options``: git's own, before the command. ``variables``: added to the environment.
        """
        command = ["git", "-C", str(self.root), *options, *arguments]
        environment = quiet_environment() | dict(variables or {})
        try:
            result = subprocess.run(command, capture_output=True, env=environment, input=stdin, check=False)
        except FileNotFoundError as error:
            raise RequestError("git is not installed or not on PATH: install git") from error
        if check and result.returncode != 0:
            raise MachineError(f"git {arguments[0]} failed: {_last_line(result.stderr.decode(errors='replace'))}")
        return result


def quiet_environment() -> dict[str, str]:
    """Return the variables that git is run with: not sent elsewhere, in English, asking nothing."""
    kept = {name: value for name, value in os.environ.items() if name not in _REDIRECTING}
    # no lock on the user's index just to look at it, no prompt that nobody would see
    return kept | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


def _cannot_open(folder: Path, message: str) -> SolwatchError:
    if "dubious ownership" in message or "unsafe repository" in message:
        root = next(
            (each for each in [folder.resolve(), *folder.resolve().parents] if (each / ".git").exists()), folder
        )
        return MachineError(
            f"{root} is owned by another user and git refuses it: run `git config --global --add safe.directory {root}`"
        )
    if "must be run in a work tree" in message:
        return RequestError(f"{folder} is a bare repository: run from a clone with a working tree")
    if "not a git repository" in message:
        return RequestError(f"{folder} is not in a git repository: run from a clone of the project")
    return MachineError(f"git can't open {folder}: {_last_line(message)}")


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
