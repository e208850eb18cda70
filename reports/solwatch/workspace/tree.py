"""What files there are at a commit, or in the working tree, under the inputs of a build; and the digest of them."""

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from solwatch.model.errors import RequestError
from solwatch.model.record import Commit
from solwatch.workspace.files import read_file
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import without_settings

SUBMODULE = "160000"
"""The mode by which a tree says that an entry is another repository's commit."""

_PROJECT = b"pyproject.toml"


def content_key(repository: Repository, commit: Commit, inputs: Sequence[str]) -> str:
    """Return a digest of the files under ``inputs`` (paths from the root), as they are at ``commit``.

    For the working tree, of what lies there: changed and untracked files too, ignored ones not. Equal
    contents give equal keys, whether committed or not; attributes that govern line endings are part of them,
    ``[tool.solwatch]`` in the root's pyproject.toml is not.
    Raises ``RequestError`` when no input exists or a submodule under one isn't there.
    """
    entries = files_at(repository, commit, inputs)
    if above := attributes_above(inputs):
        entries |= _listed(repository, commit, above)
    mode, blob = entries.get(_PROJECT, ("", ""))
    if mode.startswith("100"):
        project = (repository.root / os.fsdecode(_PROJECT)).read_bytes() if commit.dirty else _blob(repository, blob)
        if (said := without_settings(project)) is not None:
            entries[_PROJECT] = (mode, hashlib.sha256(said).hexdigest())
    digest = hashlib.sha256()
    for path in sorted(entries):
        mode, blob = entries[path]
        digest.update(f"{mode} {blob} ".encode() + path + b"\0")
    return digest.hexdigest()


def listing(repository: Repository, sha: str, inputs: Sequence[str], *others: str) -> bytes:
    """Return git's own names of ``inputs``, ``others`` and the attributes above at ``sha``: one call of git.

    Commits of one listing have one content key; those of two may.
    """
    paths = [*plain_paths(inputs), *plain_paths(others), *attributes_above(inputs)]
    return repository.run("ls-tree", "-z", "--full-tree", sha, "--", *paths).stdout


def attributes_above(inputs: Sequence[str]) -> list[str]:
    """Return where attributes that govern ``inputs`` may lie, beside those among them."""
    return sorted({str(folder / ".gitattributes") for path in plain_paths(inputs) for folder in Path(path).parents})


def files_at(repository: Repository, commit: Commit, inputs: Sequence[str]) -> dict[bytes, tuple[str, str]]:
    """Return path -> (mode, blob hash) of the files under ``inputs``; paths from the root."""
    found = _listed(repository, commit, plain_paths(inputs))
    if not found:
        raise RequestError(f"none of the build inputs {', '.join(inputs)} exists at {commit.name}")
    return found


def _listed(repository: Repository, commit: Commit, inputs: Sequence[str]) -> dict[bytes, tuple[str, str]]:
    return _files_on_disk(repository, inputs) if commit.dirty else _files_in(repository, commit.sha, inputs)


def content_at(repository: Repository, commit: Commit, path: str, most_bytes: int) -> bytes | None:
    """Return what the file ``path`` (from the root) holds at ``commit``, ``None`` where nothing lies there.

    For the working tree, what lies on disk. Raises ``RequestError`` when it is no file (a link is none) or has
    more than ``most_bytes``.
    """
    if commit.dirty:
        return read_file(repository.root / path, most_bytes)
    (entry, *_) = repository.run("ls-tree", "-z", "--full-tree", commit.sha, "--", path).stdout.split(b"\0")
    if not entry:
        return None
    mode, _, blob = entry.partition(b"\t")[0].decode().split(" ", 2)
    if not mode.startswith("100"):
        raise RequestError(f"{path} at {commit.name} is not a file: put an ordinary file there")
    size = int(repository.text("cat-file", "-s", blob))
    if size > most_bytes:
        raise RequestError(f"{path} at {commit.name} has {size} bytes: at most {most_bytes} are read")
    return _blob(repository, blob)


def entries_of(repository: Repository, sha: str, inputs: Sequence[str]) -> dict[bytes, tuple[str, str]]:
    """Return path -> (mode, hash) of what the tree of ``sha`` lists under ``inputs``, submodules as one entry."""
    output = repository.run("ls-tree", "-r", "-z", "--full-tree", sha, "--", *inputs).stdout
    found = {}
    for entry in filter(None, output.split(b"\0")):
        facts, _, path = entry.partition(b"\t")
        mode, _, blob = facts.decode().split(" ", 2)
        found[path] = (mode, blob)
    return found


def _files_in(repository: Repository, sha: str, inputs: Sequence[str]) -> dict[bytes, tuple[str, str]]:
    found: dict[bytes, tuple[str, str]] = {}
    for path, (mode, blob) in entries_of(repository, sha, inputs).items():
        if mode == SUBMODULE:
            found |= _below(path, _files_in(submodule(repository, path, blob), blob, ["."]))
        else:
            found[path] = (mode, blob)
    return found


def _files_on_disk(repository: Repository, inputs: Sequence[str]) -> dict[bytes, tuple[str, str]]:
    listed = repository.run(
        "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--",
        *map(_pathspec, inputs),
    ).stdout  # fmt: skip
    full = {path: repository.root / os.fsdecode(path) for path in listed.split(b"\0") if path}
    # filters (line endings, LFS) applied as `git add` would, so that a committed copy gets the same key
    files = [path for path, file in full.items() if file.is_file() and not file.is_symlink()]
    hashed = repository.run("hash-object", "--stdin-paths", stdin=b"".join(map(_quoted, files))).stdout
    found = {}
    for path, blob in zip(files, hashed.decode().split(), strict=True):
        executable = full[path].stat().st_mode & stat.S_IXUSR
        found[path] = ("100755" if executable else "100644", blob)
    for path, file in full.items():
        if file.is_symlink():
            target = os.fsencode(os.readlink(file))
            link = repository.run("hash-object", "--stdin", stdin=target).stdout.decode().strip()
            found[path] = ("120000", link)
        elif file.is_dir() and not path.endswith(b"/"):  # with one: a repository that git doesn't know
            found |= _below(path, _files_on_disk(submodule(repository, path), ["."]))
    return found


def submodule(repository: Repository, path: bytes, commit: str | None = None) -> Repository:
    """Return the submodule at ``path``; raises ``RequestError`` unless it is there and has ``commit``."""
    name = os.fsdecode(path)
    module = Repository(repository.root / name)
    if not (module.root / ".git").exists():
        raise RequestError(
            f"build input {name} is a submodule that is not there: run `git submodule update --init --recursive`"
        )
    if commit and module.run("cat-file", "-e", f"{commit}^{{commit}}", check=False).returncode != 0:
        raise RequestError(
            f"the submodule {name} lacks its commit {commit[:12]}: run `git -C {name} fetch origin {commit}`"
        )
    return module


def _blob(repository: Repository, blob: str) -> bytes:
    return repository.run("cat-file", "blob", blob).stdout


def plain_paths(inputs: Sequence[str]) -> list[str]:
    """Return ``inputs`` as git wants them; raises ``RequestError`` for one that is not under the repository's root."""
    for path in inputs:
        if os.path.isabs(path) or ".." in Path(path).parts or not path:
            raise RequestError(f"build input {path!r} must be a path under the repository's root")
    return [os.path.normpath(path) for path in inputs]


def _pathspec(path: str) -> str:
    return ":(top)" if path == "." else f":(top,literal){path}"


def _below(folder: bytes, files: Mapping[bytes, tuple[str, str]]) -> dict[bytes, tuple[str, str]]:
    return {folder + b"/" + path: facts for path, facts in files.items()}


def _quoted(path: bytes) -> bytes:
    """Return a path as a line that git reads back as it was: a name may hold quotes and line ends."""
    for char, name in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        path = path.replace(char, name)
    return b'"' + path + b'"\n'
