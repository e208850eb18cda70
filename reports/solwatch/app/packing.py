"""The plot of ``build``: build commits here and pack them for a machine without a compiler."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from solwatch.app.builds import Built, build, builder_for
from solwatch.model.config import Config
from solwatch.workspace.builds import Build
from solwatch.workspace.git import Repository
from solwatch.workspace.pack import write_pack


@dataclass(frozen=True, kw_only=True)
class Packed:
    """What the pack in ``folder`` holds, in the order asked for; ``size_bytes``: all of it."""

    folder: Path
    builds: list[Built]
    size_bytes: int


def packed(
    repository: Repository,
    config: Config,
    commits: Sequence[str],
    device_type: str,
    folder: Path,
    *,
    environment: Mapping[str, str],
    say: Callable[[str], None],
) -> Packed:
    """Build ``commits`` for ``device_type`` and pack them into ``folder``; the last commit is head.

    Raises ``HeadBuildError`` when head doesn't compile, ``MachineError`` when another doesn't.
    """
    builder = builder_for(repository, config, device_type, environment)
    resolved = [repository.resolve(name) for name in commits]
    names = ["base"] * (len(resolved) - 1) + ["head"]
    built = [
        build(repository, builder, commit, name, config, say) for commit, name in zip(resolved, names, strict=True)
    ]
    alike = {each.commit.build: each for each in built}
    builds = [
        Build(path=Path(each.side.path[0]), key=key or "", built=each.compiled, wall_s=each.wall_s)
        for key, each in alike.items()
    ]
    write_pack(folder, builder, builds)
    return Packed(folder=folder, builds=built, size_bytes=sum(path.stat().st_size for path in folder.iterdir()))
