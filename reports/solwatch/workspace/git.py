"""The user's repository, read and never changed: commits, contents, exports."""

import difflib
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from solwatch.model.errors import MachineError, RequestError, SolwatchError
from solwatch.model.record import Commit
from solwatch.workspace.files import disk_errors
from solwatch.workspace.settings import without_settings

_UNSHALLOW = "run `git fetch --unshallow` (in GitHub Actions: `fetch-depth: 0` on actions/checkout)"
# Set inside git hooks; they would point git at another repository than the folder asked for.
_REDIRECTING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")
# With an index of our own: no hook hears of it, and nothing of the user's decides what lies in it or beside it.
_OWN_INDEX = [
    option
    for setting in ("hooksPath=/dev/null", "sparseCheckout=false", "splitIndex=false", "fsmonitor=false")
    for option in ("-c", f"core.{setting}")
]
_SUBMODULE = "160000"
_PROJECT = b"pyproject.toml"


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
        result = repository._run("rev-parse", "--show-toplevel", check=False)
        if result.returncode != 0:
            raise _cannot_open(folder, result.stderr.decode(errors="replace"))
        repository.root = Path(os.fsdecode(result.stdout.removesuffix(b"\n")))
        if repository._run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False).returncode != 0:
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
            self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", check=False)
            .stdout.decode()
            .strip()
        )
        if not found:
            raise RequestError(f"unknown commit {name!r}{self._hint(name)}")
        return self._describe(found, name)

    def parent(self, commit: Commit) -> Commit | None:
        """Return the first parent, ``None`` for a first commit.

        Raises ``RequestError`` at the edge of a shallow clone.
        """
        # The raw object: log and rev-list hide the parents that a shallow clone lacks.
        text = self._text("cat-file", "commit", commit.sha)
        head, _, _ = text.partition("\n\n")
        parents = [line.split()[1] for line in head.splitlines() if line.startswith("parent ")]
        if not parents:
            return None
        if self._run("cat-file", "-e", f"{parents[0]}^{{commit}}", check=False).returncode != 0:
            raise RequestError(f"the parent of {commit.name} is not in this shallow clone: {_UNSHALLOW}")
        return self._describe(parents[0], f"{commit.name}^")

    def working_tree(self) -> Commit:
        """Return the files as they lie there: HEAD's sha, ``dirty``, named ``working tree``."""
        head = self._describe(self._text("rev-parse", "HEAD").strip(), "working tree")
        return Commit(sha=head.sha, name=head.name, subject=head.subject, committed_at=head.committed_at, dirty=True)

    def is_dirty(self) -> bool:
        """Return whether the working tree differs from HEAD, files unknown to git and not ignored included."""
        return bool(self._run("status", "--porcelain").stdout)

    def depth(self) -> Depth:
        """Return how much history there is."""
        return Depth(
            shallow=self._text("rev-parse", "--is-shallow-repository").strip() == "true",
            commits=int(self._text("rev-list", "--count", "HEAD")),
        )

    def content_key(self, commit: Commit, inputs: Sequence[str]) -> str:
        """Return a digest of the files under ``inputs`` (paths from the root), as they are at ``commit``.

        For the working tree, of what lies there: changed and untracked files too, ignored ones not. Equal
        contents give equal keys, whether committed or not; attributes that govern line endings are part of them,
        ``[tool.solwatch]`` in the root's pyproject.toml is not.
        Raises ``RequestError`` when no input exists or a submodule under one isn't there.
        """
        entries = self._tree(commit, inputs)
        above = {str(folder / ".gitattributes") for path in _plain(inputs) for folder in Path(path).parents}
        if above:
            entries |= self._listed(commit, sorted(above))
        mode, blob = entries.get(_PROJECT, ("", ""))
        if mode.startswith("100"):
            project = (self.root / os.fsdecode(_PROJECT)).read_bytes() if commit.dirty else self._blob(blob)
            if (said := without_settings(project)) is not None:
                entries[_PROJECT] = (mode, hashlib.sha256(said).hexdigest())
        digest = hashlib.sha256()
        for path in sorted(entries):
            mode, blob = entries[path]
            digest.update(f"{mode} {blob} ".encode() + path + b"\0")
        return digest.hexdigest()

    def export(self, commit: Commit, dest: Path, inputs: Sequence[str] | None = None) -> None:
        """Copy the files at ``commit`` (only those under ``inputs``, when given) into the new folder ``dest``.

        The files are as git checks them out: attributes meant for archives leave nothing out and fill nothing in.
        Submodules under ``inputs`` come along, those of a whole commit stay empty. The user's working tree and
        index are not touched. Raises ``MachineError`` when the disk is full.
        """
        with disk_errors(dest):
            dest.mkdir(parents=True)
            if commit.dirty:
                for path in self._tree(commit, inputs if inputs is not None else ["."]):
                    _copy(self.root / os.fsdecode(path), dest / os.fsdecode(path))
            else:
                self._check_out(commit.sha, None if inputs is None else _plain(inputs), dest)

    def _check_out(self, sha: str, inputs: Sequence[str] | None, dest: Path) -> None:
        """Write the files under ``inputs`` (all without them) into the folder ``dest``, by an index of our own."""
        git_dir = os.fsdecode(self._run("rev-parse", "--absolute-git-dir").stdout.removesuffix(b"\n"))
        with tempfile.TemporaryDirectory(prefix=".index.", dir=dest.parent) as home:
            own = {"GIT_DIR": git_dir, "GIT_WORK_TREE": str(dest.absolute()), "GIT_INDEX_FILE": f"{home}/index"}
            self._run("read-tree", sha, own_index=own)
            if inputs is None:
                self._run("checkout-index", "--all", own_index=own)
                return
            entries = self._entries(sha, inputs)
            listed = b"".join(path + b"\0" for path in entries)
            self._run("checkout-index", "-z", "--stdin", own_index=own, stdin=listed)
        for path, (mode, commit) in entries.items():
            if mode == _SUBMODULE:
                self._submodule(path, commit)._check_out(commit, ["."], dest / os.fsdecode(path))

    def _tree(self, commit: Commit, inputs: Sequence[str]) -> dict[bytes, tuple[str, str]]:
        """Return path -> (mode, blob hash) of the files under ``inputs``; paths from the root."""
        found = self._listed(commit, _plain(inputs))
        if not found:
            raise RequestError(f"none of the build inputs {', '.join(inputs)} exists at {commit.name}")
        return found

    def _listed(self, commit: Commit, inputs: Sequence[str]) -> dict[bytes, tuple[str, str]]:
        return self._files_on_disk(inputs) if commit.dirty else self._files_in(commit.sha, inputs)

    def _entries(self, sha: str, inputs: Sequence[str]) -> dict[bytes, tuple[str, str]]:
        output = self._run("ls-tree", "-r", "-z", "--full-tree", sha, "--", *inputs).stdout
        found = {}
        for entry in filter(None, output.split(b"\0")):
            facts, _, path = entry.partition(b"\t")
            mode, _, blob = facts.decode().split(" ", 2)
            found[path] = (mode, blob)
        return found

    def _files_in(self, sha: str, inputs: Sequence[str]) -> dict[bytes, tuple[str, str]]:
        found: dict[bytes, tuple[str, str]] = {}
        for path, (mode, blob) in self._entries(sha, inputs).items():
            if mode == _SUBMODULE:
                found |= _below(path, self._submodule(path, blob)._files_in(blob, ["."]))
            else:
                found[path] = (mode, blob)
        return found

    def _files_on_disk(self, inputs: Sequence[str]) -> dict[bytes, tuple[str, str]]:
        listed = self._run(
            "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--",
            *map(_pathspec, inputs),
        ).stdout  # fmt: skip
        full = {path: self.root / os.fsdecode(path) for path in listed.split(b"\0") if path}
        # filters (line endings, LFS) applied as `git add` would, so that a committed copy gets the same key
        files = [path for path, file in full.items() if file.is_file() and not file.is_symlink()]
        hashed = self._run("hash-object", "--stdin-paths", stdin=b"".join(map(_quoted, files))).stdout
        found = {}
        for path, blob in zip(files, hashed.decode().split(), strict=True):
            executable = full[path].stat().st_mode & stat.S_IXUSR
            found[path] = ("100755" if executable else "100644", blob)
        for path, file in full.items():
            if file.is_symlink():
                target = os.fsencode(os.readlink(file))
                link = self._run("hash-object", "--stdin", stdin=target).stdout.decode().strip()
                found[path] = ("120000", link)
            elif file.is_dir() and not path.endswith(b"/"):  # with one: a repository that git doesn't know
                found |= _below(path, self._submodule(path)._files_on_disk(["."]))
        return found

    def _submodule(self, path: bytes, commit: str | None = None) -> "Repository":
        """Return the submodule at ``path``; raises ``RequestError`` unless it is there and has ``commit``."""
        name = os.fsdecode(path)
        module = Repository(self.root / name)
        if not (module.root / ".git").exists():
            raise RequestError(
                f"build input {name} is a submodule that is not there: run `git submodule update --init --recursive`"
            )
        if commit and module._run("cat-file", "-e", f"{commit}^{{commit}}", check=False).returncode != 0:
            raise RequestError(
                f"the submodule {name} lacks its commit {commit[:12]}: run `git -C {name} fetch origin {commit}`"
            )
        return module

    def _blob(self, blob: str) -> bytes:
        return self._run("cat-file", "blob", blob).stdout

    def _describe(self, sha: str, name: str) -> Commit:
        found, subject, date = (
            self._text("show", "--no-patch", "--no-show-signature", "--format=%H%x00%s%x00%cI", sha)
            .rstrip("\n")
            .split("\0")
        )
        return Commit(sha=found, name=name, subject=subject, committed_at=date)

    def _hint(self, name: str) -> str:
        if self.depth().shallow:
            return f": this clone is shallow and may lack it; {_UNSHALLOW}"
        listed = self._text("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
        near = difflib.get_close_matches(name, listed.split(), n=3, cutoff=0.5)
        return (
            f": did you mean {' or '.join(near)}?"
            if near
            else ": `git branch -a` and `git tag` list the names there are"
        )

    def _text(self, *arguments: str) -> str:
        return self._run(*arguments).stdout.decode(errors="replace")

    def _run(
        self,
        *arguments: str,
        check: bool = True,
        stdin: bytes | None = None,
        own_index: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        command = ["git", "-C", str(self.root), *(_OWN_INDEX if own_index else []), *arguments]
        environment = _environment() | dict(own_index or {})
        try:
            result = subprocess.run(command, capture_output=True, env=environment, input=stdin, check=False)
        except FileNotFoundError as error:
            raise RequestError("git is not installed or not on PATH: install git") from error
        if check and result.returncode != 0:
            raise MachineError(f"git {arguments[0]} failed: {_last_line(result.stderr.decode(errors='replace'))}")
        return result


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _REDIRECTING}
    # no lock on the user's index just to look at it, no prompt that nobody would see
    return kept | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


def _plain(inputs: Sequence[str]) -> list[str]:
    for path in inputs:
        if os.path.isabs(path) or ".." in Path(path).parts or not path:
            raise RequestError(f"build input {path!r} must be a path under the repository's root")
    return [os.path.normpath(path) for path in inputs]


def _pathspec(path: str) -> str:
    return ":(top)" if path == "." else f":(top,literal){path}"


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


def _below(folder: bytes, files: Mapping[bytes, tuple[str, str]]) -> dict[bytes, tuple[str, str]]:
    return {folder + b"/" + path: facts for path, facts in files.items()}


def _quoted(path: bytes) -> bytes:
    """Return a path as a line that git reads back as it was: a name may hold quotes and line ends."""
    for char, name in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        path = path.replace(char, name)
    return b'"' + path + b'"\n'


def _copy(source: Path, dest: Path) -> None:
    dest.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, dest, follow_symlinks=False)
