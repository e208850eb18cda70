"""The plot of ``build``: build commits here and pack them for a machine without a compiler."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from solwatch.app.builds import Built, build, builder_for
from solwatch.model.config import Config
from solwatch.model.errors import HeadBuildError, RequestError
from solwatch.model.record import Commit
from solwatch.workspace.builds import Build, Builder
from solwatch.workspace.git import Repository
from solwatch.workspace.history import commits_between
from solwatch.workspace.pack import write_pack


@dataclass(frozen=True, kw_only=True)
class Packed:
    """What the pack in ``folder`` holds, in the order asked for; ``size_bytes``: all of it.

    ``left_out``: commits between the two asked for that don't build, by hash, each with why.
    """

    folder: Path
    builds: list[Built]
    left_out: dict[str, str]
    size_bytes: int


def packed(
    repository: Repository,
    config: Config,
    commits: Sequence[str],
    device_type: str,
    folder: Path,
    *,
    between: bool = False,
    environment: Mapping[str, str],
    say: Callable[[str], None],
) -> Packed:
    """Build ``commits`` for ``device_type`` and pack them into ``folder``; the last commit is head.

    ``between``: the two commits and what ``bisect`` follows from one to the other; of those between, what doesn't
    build is left out. Raises ``HeadBuildError`` when head doesn't compile, ``MachineError`` when another that was
    named doesn't, ``RequestError`` for two commits that are no range.
    """
    builder = builder_for(repository, config, device_type, environment)
    named = [repository.resolve(name) for name in commits]
    line = _between(repository, named) if between else []
    roles = ["base"] * (len(named) - 1) + ["head"]
    built = [build(repository, builder, commit, role, config, say) for commit, role in zip(named, roles, strict=True)]
    left_out: dict[str, str] = {}

    def each() -> Iterator[Build]:  # packed as soon as it is built: the cache of builds may be smaller than the range
        for one in built:
            yield _packable(one)
        for one in _those_that_build(repository, builder, line, config, left_out, say):
            built.insert(-1, one)
            yield _packable(one)

    write_pack(folder, builder, each())
    size_bytes = sum(path.stat().st_size for path in folder.iterdir())
    return Packed(folder=folder, builds=built, left_out=left_out, size_bytes=size_bytes)


def _between(repository: Repository, named: Sequence[Commit]) -> list[Commit]:
    """Return what lies between the two, without them."""
    if len(named) != 2:
        raise RequestError(f"--between takes two commits, GOOD and BAD, and not {len(named)}")
    past = commits_between(repository, *named, inside_merges=False)[1:-1]
    return [Commit(sha=one.sha, name=one.sha[:8], subject=one.subject, committed_at=one.committed_at) for one in past]


def _those_that_build(
    repository: Repository,
    builder: Builder,
    commits: Sequence[Commit],
    config: Config,
    left_out: dict[str, str],
    say: Callable[[str], None],
) -> Iterator[Built]:
    """Build one after the other, what is the same once; fill ``left_out`` with those that don't build."""
    broken: dict[str, str] = {}
    for commit in commits:
        try:
            key = builder.key(commit)
            why = broken.get(key)
            if why is None:
                yield build(repository, builder, commit, "head", config, say)
        except HeadBuildError as error:
            why = broken[key] = "does not build: " + str(error).splitlines()[0].rpartition("does not build: ")[2]
        except RequestError as error:  # nothing there to build from, or no suite
            why = str(error).splitlines()[0]
        if why is not None:
            left_out[commit.sha] = why
            say(f"{commit.sha[:8]} is left out: {why}")


def _packable(built: Built) -> Build:
    return Build(path=Path(built.side.path[0]), key=built.commit.build or "", built=built.compiled, wall_s=built.wall_s)
