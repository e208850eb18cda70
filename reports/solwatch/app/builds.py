"""From names of commits to sides that can be measured: resolved, built, their suites laid out."""

import contextlib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from solwatch.app.sides import Side
from solwatch.model.config import Config
from solwatch.model.errors import BuildError, HeadBuildError, MachineError, RequestError
from solwatch.model.plain import plain
from solwatch.model.record import Commit, Environment
from solwatch.workspace.builds import Build, Builder
from solwatch.workspace.export import export
from solwatch.workspace.git import Repository
from solwatch.workspace.pack import PackedBuilds

ROOT = "build"
HOME = "build/solwatch"
WHEELS = "build/solwatch/wheels"
PACKED = "build/solwatch/packed"
SUITES = "build/solwatch/suites"
_TOLD = ("building ", "waiting ")
"""What is said while building; the compiler's own output is shown when it fails."""


@dataclass(frozen=True, kw_only=True)
class Built:
    """A commit with its build and its suite on disk. ``wall_s``: what building took, 0 from the cache.

    ``environment``: the one it is measured in, ``None`` for this process's own.
    """

    commit: Commit
    side: Side
    benchmarks_dir: Path
    compiled: bool
    wall_s: float
    environment: Environment | None = None


def builder_for(
    repository: Repository,
    config: Config,
    device_type: str,
    environment: Mapping[str, str],
    variant: Mapping[str, str] | None = None,
) -> Builder:
    """Return the builder of this repository's wheels for ``device_type`` (``cpu`` or ``cuda``).

    ``variant``: variables that tell one more kind of build apart, over those that the configuration sets. Raises
    ``RequestError`` where the repository brings files of solwatch's own folder along.
    """
    _require_own(repository)
    wanted = config.build_environment.get(device_type, {})
    return Builder(
        repository,
        repository.root / WHEELS,
        inputs=config.build_inputs,
        command=config.build_command,
        environment_globs=config.environment,
        variant={name: environment.get(name, value) for name, value in wanted.items()} | dict(variant or {}),
    )


class Builds(Protocol):
    """Where builds come from: a compiler's cache, or a pack."""

    def has(self, commit: Commit) -> bool:
        """Return whether the build of ``commit`` is there and need not be compiled."""

    def provide(self, commit: Commit, on_progress: Callable[[str], None] = ...) -> Build:
        """Return the build of ``commit``."""


def packed_builds(repository: Repository, config: Config, folder: Path) -> PackedBuilds:
    """Return the builds that ``folder`` holds, packed by ``solwatch build``; raises as :func:`builder_for` does."""
    _require_own(repository)
    return PackedBuilds(repository, folder, repository.root / PACKED, inputs=config.build_inputs)


def _require_own(repository: Repository) -> None:
    """Raise ``RequestError`` where what is checked out brings builds or suites along: of any commit, made by anyone."""
    tracked = repository.run("ls-files", "-z", "--", ROOT).stdout.split(b"\0")
    own = [path for path in map(os.fsdecode, tracked) if path == ROOT or Path(path).is_relative_to(HOME)]
    if own:
        raise RequestError(
            f"git tracks {plain(own[0], 200)}, and builds in {HOME} are taken for solwatch's own: take it out of the "
            f"repository (`git rm -r --cached {ROOT if own[0] == ROOT else HOME}`) and ignore that folder"
        )


def build(
    repository: Repository, builder: Builds, commit: Commit, name: str, config: Config, say: Callable[[str], None]
) -> Built:
    """Build one side; raises ``HeadBuildError`` when head doesn't compile, ``MachineError`` when base doesn't."""
    try:
        wheel = builder.provide(commit, lambda line: say(line) if line.startswith(_TOLD) else None)
    except BuildError as error:
        kind = HeadBuildError if name == "head" else MachineError
        raise kind(f"{name} is at fault: {error}\n{error.output}") from None
    return Built(
        commit=msgspec.structs.replace(commit, build=wheel.key),
        side=Side(name=name, path=(str(wheel.path),)),
        benchmarks_dir=suite_of(repository, commit, config),
        compiled=wheel.built,
        wall_s=wheel.wall_s,
    )


def suite_of(repository: Repository, commit: Commit, config: Config) -> Path:
    """Return the folder with the commit's own benchmarks; the working tree's are used in place."""
    home = repository.root if commit.dirty else repository.root / SUITES / commit.sha
    if not home.is_dir():
        # exported beside, then renamed: an interrupted export must not be taken for a suite
        scratch = home.with_name(f"{commit.sha}.{os.getpid()}")
        shutil.rmtree(scratch, ignore_errors=True)
        export(repository, commit, scratch)
        with contextlib.suppress(OSError):
            scratch.rename(home)
        shutil.rmtree(scratch, ignore_errors=True)
    if not (home / config.benchmarks).is_dir():
        raise RequestError(f"{commit.name} ({commit.sha[:8]}) has no folder {config.benchmarks!r}: set 'benchmarks'")
    return home / config.benchmarks
