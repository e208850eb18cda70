"""Builds of commits, kept by content: what was built once is never built again, and switching is another path."""

import errno
import functools
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from solwatch.model.errors import BuildError, MachineError, RequestError
from solwatch.model.record import Commit
from solwatch.workspace.export import export
from solwatch.workspace.files import disk_error, disk_errors, sync_folder, write_atomically
from solwatch.workspace.git import Repository
from solwatch.workspace.locks import FileLock
from solwatch.workspace.toolchain import allowed, build_facts
from solwatch.workspace.tree import content_key
from solwatch.workspace.wheels import unpack_wheel

__all__ = ["Build", "BuildError", "Builder"]

OUTPUT_LINES = 60
"""How many of a failed build's last lines its error carries."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Build:
    """A commit's build: put ``path`` on ``sys.path``.

    ``key``: its name in the cache. ``built``: whether it was compiled just now; ``wall_s``: how long providing it
    took, in seconds.
    """

    path: Path
    key: str
    built: bool
    wall_s: float


class Builder:
    """Provides builds of one repository from a cache that several processes may share."""

    def __init__(
        self,
        repository: Repository,
        cache_dir: Path,
        *,
        inputs: Sequence[str],
        command: Sequence[str],
        environment_globs: Sequence[str],
        variant: Mapping[str, str],
        keep: int = 50,
    ) -> None:
        """Say how ``repository`` is built.

        ``inputs``: what it is built from, paths under the root; nothing else is there during the build.
        ``command``: words with ``{python}``, ``{source}`` and ``{wheels}``. ``environment_globs``: the variables
        a build may see. ``variant``: variables set on top, which tell kinds of build apart. ``keep``: how many
        builds stay in the cache.
        """
        self._repository = repository
        self._cache = cache_dir.absolute()
        self._inputs = list(inputs)
        self._command = list(command)
        self._environment = allowed(os.environ, environment_globs) | dict(variant)
        self._variant = dict(variant)
        self._keep = keep

    @property
    def command(self) -> list[str]:
        """How it builds, with the places for paths still open."""
        return list(self._command)

    @property
    def variant(self) -> dict[str, str]:
        """The variables that tell this kind of build from others."""
        return dict(self._variant)

    @functools.cached_property
    def facts(self) -> dict[str, str]:
        """Compilers, packages and devices that builds depend on."""
        return build_facts(self._environment)

    def key(self, commit: Commit) -> str:
        """Return the cache key of ``commit``: sources, command, variant, compilers, packages, devices."""
        content = content_key(self._repository, commit, self._inputs)
        return cache_key(content, self._command, self._variant, self.facts)

    def has(self, commit: Commit) -> bool:
        """Return whether the build of ``commit`` is there and need not be compiled."""
        return (self._cache / self.key(commit)).is_dir()

    def provide(self, commit: Commit, on_progress: Progress = lambda line: None) -> Build:
        """Return the build of ``commit``, compiling it if no build of the same content is there.

        ``on_progress`` is given lines of text. Of several processes that want the same build, one compiles and
        the others wait. Raises ``BuildError`` when it doesn't compile, ``MachineError`` on a full disk.
        """
        started = time.monotonic()
        key = self.key(commit)
        path = self._cache / key
        if path.is_dir():
            self._touch(path)
            return Build(path=path, key=key, built=False, wall_s=time.monotonic() - started)
        lock = FileLock(self._cache / "locks" / f"{key}.lock")
        lock.acquire(lambda holder: on_progress(f"waiting for the build of {_label(commit)} by process {holder}"))
        with lock:
            built = not path.is_dir()
            if built:
                on_progress(f"building {_label(commit)}")
                self._make(commit, key, path, lock, on_progress)
        self._prune(path)
        return Build(path=path, key=key, built=built, wall_s=time.monotonic() - started)

    def _make(self, commit: Commit, key: str, path: Path, lock: FileLock, on_progress: Progress) -> None:
        # Named by the key, not at random: a path that ends up in the binary is the same for the same build.
        scratch = self._cache / "scratch" / key
        with disk_errors(scratch):
            shutil.rmtree(scratch, ignore_errors=True)
            (scratch / "wheels").mkdir(parents=True)
        try:
            export(self._repository, commit, scratch / "source", self._inputs)
            if commit.dirty and self.key(commit) != key:
                raise RequestError("the working tree changed while it was being copied: run again when it is still")
            self._compile(commit, scratch, lock, on_progress)
            self._unpack(commit, scratch, key, path)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _compile(self, commit: Commit, scratch: Path, lock: FileLock, on_progress: Progress) -> None:
        filled = {"python": sys.executable, "source": str(scratch / "source"), "wheels": str(scratch / "wheels")}
        command = [_fill(word, filled) for word in self._command]
        environment = self._environment | {
            "SOLWATCH_BUILD_CACHE": str(self._cache / "objects"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "PYTHONUNBUFFERED": "1",  # output in the order in which it was written, through one pipe
            "TMPDIR": str(scratch),
        }
        try:
            # The build inherits the lock: should this process be killed, nobody builds the same in the same
            # place until the orphaned compiler has ended.
            process = subprocess.Popen(
                command, cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                pass_fds=(lock.handle,),
            )  # fmt: skip
        except OSError as error:
            raise RequestError(
                f"the build command {command[0]!r} can't be started ({error.strerror}): correct build_command"
            ) from error
        last: deque[str] = deque(maxlen=OUTPUT_LINES)
        try:
            assert process.stdout is not None
            for line in process.stdout:
                last.append(line.rstrip())
                on_progress(line.rstrip())
            code = process.wait()
        finally:
            _end_group(process)
        if code == 0:
            return
        output = "\n".join(last)
        if os.strerror(errno.ENOSPC) in output:
            raise disk_error(scratch, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        how = f"exit code {code}" if code > 0 else f"killed by {signal.Signals(-code).name}"
        raise BuildError(f"{_label(commit)} does not build: {how}", commit=commit.name, output=output)

    def _unpack(self, commit: Commit, scratch: Path, key: str, path: Path) -> None:
        wheels = sorted((scratch / "wheels").glob("*.whl"))
        if len(wheels) != 1:
            names = ", ".join(wheel.name for wheel in wheels) or "none"
            raise RequestError(f"the build of {commit.name} must leave one wheel in {{wheels}}, it left {names}")
        whole = scratch / "whole"
        try:
            unpack_wheel(wheels[0], whole)
        except zipfile.BadZipFile as error:
            raise MachineError(f"the wheel of {commit.name} is damaged ({error}): run again") from error
        except OSError as error:
            raise disk_error(path, error) from error
        notes = {
            "commit": commit.sha, "dirty": commit.dirty, "wheel": wheels[0].name, "command": self._command,
            "variant": self._variant, "facts": self.facts,
        }  # fmt: skip
        write_atomically(whole / "solwatch-build.json", json.dumps(notes, indent=2).encode())
        with disk_errors(path):
            os.rename(whole, path)
            sync_folder(self._cache)

    def _prune(self, current: Path) -> None:
        """Delete the builds used longest ago, beyond the number to keep; one that is being provided stays."""
        entries = [entry for entry in self._cache.iterdir() if (entry / "solwatch-build.json").is_file()]
        entries.sort(key=_used_at, reverse=True)
        for entry in entries[self._keep :]:
            lock = FileLock(self._cache / "locks" / f"{entry.name}.lock")
            if entry != current and lock.try_acquire():
                with lock:
                    # renamed first: whoever looks finds all of it or none
                    doomed = self._cache / "scratch" / f"{entry.name}.old"
                    shutil.rmtree(doomed, ignore_errors=True)
                    os.rename(entry, doomed)
                    shutil.rmtree(doomed, ignore_errors=True)

    def _touch(self, path: Path) -> None:
        try:
            os.utime(path)
        except OSError:
            return  # a cache that others own and we may only read still serves


def cache_key(content: str, command: Sequence[str], variant: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """Return the name of a build in a cache: a digest of everything that it depends on."""
    said = {"content": content, "command": list(command), "variant": dict(variant), "facts": dict(facts)}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:40]


def _label(commit: Commit) -> str:
    short = commit.sha[:8]
    return short if commit.name.startswith(short) else f"{commit.name} ({short})"


def _used_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process deleted it meanwhile
        return 0.0


def _fill(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace("{" + name + "}", value)
    return word


def _end_group(process: "subprocess.Popen[str]") -> None:
    """End a build that is still running, its compilers too: an interrupted one."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
