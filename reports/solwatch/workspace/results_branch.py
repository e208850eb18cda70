"""A branch of a remote as a set of files: read and added to beside the user's repository, which stays as it is.

All work is done in a bare repository in a temporary folder: neither the user's index, working tree, branches and
hooks nor the depth of his clone are touched, and a kill leaves nothing but that folder. The branch itself moves by
one push of a finished commit, which the remote takes whole or not at all.
"""

import difflib
import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from solwatch.model.errors import MachineError, RequestError
from solwatch.workspace.git import Repository

MOST_FILE_BYTES = 32 << 20
"""What one file on the branch may have; results of 24 cells have 50 kB, a larger file is left alone."""

MOST_BYTES = 4 << 30
"""What is read of one branch at most: 80,000 files of results."""

_CHUNK_BYTES = 64 << 20
"""What is held in memory of it at once."""

_AUTHOR = "solwatch <solwatch@noreply.invalid>"

# How the remote is reached, as set in the clone itself; what is set for its user or the system holds anyway.
_REACHING = re.compile(r"(http|credential|url|ssh|protocol)\..+|core\.(sshcommand|gitproxy|askpass)")
_OF_REMOTE = ("url", "pushurl", "proxy", "proxyauthmethod", "uploadpack", "receivepack", "vcs")

_OPTIONS = [
    option
    for setting in (
        "core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false", "push.recurseSubmodules=no",
        "http.lowSpeedLimit=100", "http.lowSpeedTime=60",  # bytes/s, seconds: what has stopped is not waited for
    )
    for option in ("-c", setting)
]  # fmt: skip

_RACED = re.compile(
    r"fetch first|non-fast-forward|stale info|(cannot|failed to) lock|failed to update ref|reference already exists"
    r"|incorrect old value"
)
"""Why a remote takes no push for the moment: somebody else's came first."""

_FOR_GOOD = re.compile(rb"Permission denied|Read-only|No space left")
"""What makes the same refusal one that no further attempt will change."""

_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+@")


@dataclass(frozen=True)
class BranchFile:
    """A file on the branch: its mode as git writes it (``100644``) and its content's hash."""

    mode: str
    blob: str


@contextmanager
def results_branch(repository: Repository, remote: str, branch: str) -> Iterator["ResultsBranch"]:
    """Yield ``branch`` of ``remote``; raises ``RequestError`` when there is no such remote or name of a branch."""
    _require_remote(repository, remote)
    if branch.startswith("-") or repository.run("check-ref-format", f"refs/heads/{branch}", check=False).returncode:
        raise RequestError(f"{branch!r} is not the name of a branch: give one like asv-results")
    with tempfile.TemporaryDirectory(prefix="solwatch-history-") as scratch:
        yield ResultsBranch(repository, remote, branch, Path(scratch))


class ResultsBranch:
    """One branch of one remote, as it was when it was fetched last."""

    def __init__(self, repository: Repository, remote: str, branch: str, scratch: Path) -> None:
        """Use :func:`results_branch`."""
        self.remote = remote
        self.branch = branch
        self._repository = repository
        self._scratch = scratch
        self._tip: str | None = None
        self._variables = _as_variables(_reaching(repository, remote))
        self._hash = repository.text("rev-parse", "--show-object-format").strip()
        repository.run("init", "--quiet", "--bare", "--template=", f"--object-format={self._hash}", str(scratch))

    def fetch(self, *, contents: bool) -> bool:
        """Get the branch's newest commit; return whether there is one.

        Without ``contents`` files are only listed, where the remote can do that, and fetched when they are read.
        Raises ``MachineError`` when the remote can't be reached.
        """
        lean = [] if contents else ["--filter=blob:none"]
        arguments = ["--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", *lean]
        wanted = f"+refs/heads/{self.branch}:refs/heads/tip"
        result = self._git("fetch", *arguments, "--", self.remote, wanted, check=False)
        self._tip = None
        if result.returncode != 0:
            if b"couldn't find remote ref" in result.stderr:
                return False
            raise self._unreachable(result)
        self._tip = self._git("rev-parse", "refs/heads/tip").stdout.decode().strip()
        return True

    def files(self) -> dict[str, BranchFile]:
        """Return what lies on the branch by path; names that aren't UTF-8 with replaced characters."""
        if self._tip is None:
            return {}
        found = {}
        for entry in filter(None, self._git("ls-tree", "-r", "-z", self._tip).stdout.split(b"\0")):
            facts, _, path = entry.partition(b"\t")
            mode, _, blob = facts.decode().split(" ", 2)
            found[path.decode(errors="replace")] = BranchFile(mode, blob)
        return found

    def read(self, files: Mapping[str, BranchFile]) -> Iterator[tuple[str, bytes | None]]:
        """Yield path and content of each of ``files``; ``None`` for one that is too large.

        Raises ``MachineError`` when they are too large together.
        """
        sizes = self._sizes(list(dict.fromkeys(file.blob for file in files.values())))
        small = {path: file.blob for path, file in files.items() if sizes[file.blob] <= MOST_FILE_BYTES}
        total = sum(sizes[blob] for blob in small.values())
        if total > MOST_BYTES:
            raise MachineError(
                f"{self.branch} on {self.remote} has {total >> 20} MiB of results, more than {MOST_BYTES >> 20} MiB: "
                "look at what lies there; give a new history another --branch"
            )
        yield from ((path, None) for path in files if path not in small)
        for chunk in _chunks(small, sizes):
            contents = self._contents(list(dict.fromkeys(chunk.values())))
            yield from ((path, contents[blob]) for path, blob in chunk.items())

    def blob_of(self, content: bytes) -> str:
        """Return the hash that git gives to ``content``."""
        return hashlib.new(self._hash, b"blob %d\0" % len(content) + content).hexdigest()

    def commit(self, changed: Mapping[str, bytes], message: str, *, date_s: int) -> str:
        """Make a commit of the fetched one with ``changed`` files, and return its hash; nothing is pushed yet."""
        said = message.encode()
        stream = [b"commit refs/heads/next\n", f"committer {_AUTHOR} {date_s} +0000\n".encode(), _data(said)]
        if self._tip is not None:
            stream.append(f"from {self._tip}\n".encode())
        for path, content in sorted(changed.items()):
            quoted = path.replace("\\", "\\\\").replace('"', '\\"')
            stream += [f'M 100644 inline "{quoted}"\n'.encode(), _data(content)]
        self._git("fast-import", "--quiet", "--force", stdin=b"".join(stream))
        return self._git("rev-parse", "refs/heads/next").stdout.decode().strip()

    def push(self, commit: str) -> bool:
        """Put ``commit`` at the branch's end, never by force; return whether it is there now.

        It isn't when somebody else's push came first: fetch, make the commit anew, push again. Raises
        ``MachineError`` when the remote can't be reached or refuses for any other reason.
        """
        arguments = ["--porcelain", "--no-verify", "--no-follow-tags", "--no-signed"]
        wanted = f"{commit}:refs/heads/{self.branch}"
        result = self._git("push", *arguments, "--", self.remote, wanted, check=False)
        if result.returncode == 0:
            return True
        refusal = next((line for line in result.stdout.decode(errors="replace").splitlines() if line[:1] == "!"), None)
        if refusal is None:
            raise self._unreachable(result)
        why = refusal.split("\t")[-1]
        if _RACED.search(why) and not _FOR_GOOD.search(result.stderr):
            return False
        raise MachineError(
            f"{self.remote} refuses the push to {self.branch} {why}, {_fault(result.stderr)}: let this user write to "
            f"that branch (in GitHub Actions: `permissions: contents: write`), and leave it unprotected"
        )

    def _sizes(self, blobs: Sequence[str]) -> dict[str, int]:
        asked = "".join(f"{blob}\n" for blob in blobs).encode()
        lines = self._git("cat-file", "--batch-check", stdin=asked).stdout.decode().splitlines()
        return {blob: int(line.split()[2]) for blob, line in zip(blobs, lines, strict=True)}

    def _contents(self, blobs: Sequence[str]) -> dict[str, bytes]:
        asked = "".join(f"{blob}\n" for blob in blobs).encode()
        output = memoryview(self._git("cat-file", "--batch", stdin=asked).stdout)
        found, at = {}, 0
        for blob in blobs:
            header = bytes(output[at : at + 200]).partition(b"\n")[0]
            start = at + len(header) + 1
            size = int(header.split()[2])
            found[blob] = bytes(output[start : start + size])
            at = start + size + 1
        return found

    def _git(
        self, *arguments: str, check: bool = True, stdin: bytes | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        options = [*_OPTIONS, f"--git-dir={self._scratch}"]
        return self._repository.run(*arguments, check=check, stdin=stdin, options=options, variables=self._variables)

    def _unreachable(self, result: subprocess.CompletedProcess[bytes]) -> MachineError:
        return MachineError(
            f"{self.remote} can't be reached ({_fault(result.stderr)}): check the network, its address "
            f"(`git remote get-url {self.remote}`) and the right to use it"
        )


def _require_remote(repository: Repository, remote: str) -> None:
    known = repository.text("remote").split()
    if remote not in known:
        near = difflib.get_close_matches(remote, known, n=1, cutoff=0.0)
        hint = f"the nearest known one is {near[0]!r}" if near else "`git remote add origin ADDRESS` makes one"
        raise RequestError(f"no remote {remote!r}: {hint}")


def _reaching(repository: Repository, remote: str) -> list[tuple[str, str]]:
    """Return the settings of the user's clone that say how its remote is reached, tokens among them."""
    parts = repository.text("config", "--show-scope", "--null", "--list").split("\0")
    found = []
    for scope, setting in zip(parts[::2], parts[1::2], strict=False):
        name, newline, value = setting.partition("\n")
        of_remote = [f"remote.{remote}.{each}" for each in _OF_REMOTE]
        if scope in ("local", "worktree") and (_REACHING.fullmatch(name) or name in of_remote):
            found.append((name, value if newline else "true"))
    return found


def _as_variables(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return ``settings`` as the variables by which git takes them: unlike options, other users don't see those."""
    first = int(os.environ.get("GIT_CONFIG_COUNT") or 0)  # those that git is given already
    variables = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for index, (name, value) in enumerate(settings, start=first):
        variables |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
    return variables


def _chunks(blobs: Mapping[str, str], sizes: Mapping[str, int]) -> Iterator[dict[str, str]]:
    chunk: dict[str, str] = {}
    held = 0
    for path, blob in blobs.items():
        if chunk and held + sizes[blob] > _CHUNK_BYTES:
            yield chunk
            chunk, held = {}, 0
        chunk[path] = blob
        held += sizes[blob]
    if chunk:
        yield chunk


def _data(content: bytes) -> bytes:
    return f"data {len(content)}\n".encode() + content + b"\n"


def _fault(stderr: bytes) -> str:
    """Return the first line that says what went wrong, without passwords."""
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines()]
    telling = [line for line in lines if line and not line.startswith(("warning:", "hint:", "From ", "To "))]
    return _CREDENTIALS.sub("", telling[0]) if telling else "no message"
