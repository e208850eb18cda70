"""What needs no measuring: cells of two sides that are the same in everything that runs.

Whatever can't be shown to be the same is different: that costs measuring time and nothing else.
"""

import hashlib
import importlib.metadata
import json
import math
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

import solwatch
from solwatch.app.builds import WHEELS, Built
from solwatch.app.looks import looked
from solwatch.app.session import Request, Services, Session
from solwatch.judge.thresholds import cell_thresholds
from solwatch.model.cell import CellInfo
from solwatch.model.identity import Identity
from solwatch.model.protocol import Looked
from solwatch.workspace.contents import content_digest, contents_of_build, contents_of_folder
from solwatch.workspace.toolchain import allowed

MOST_NAMED = 3
READ = "files that the suite reads"


def identity(request: Request, services: Services, ready: Session) -> Identity | None:
    """Compare the two sides and say which cells need no time; ``None`` where everything is to be measured.

    Both sides run head's suite out of one folder, by one interpreter, in one environment: what can differ are the
    builds, and what a cell compiles and tunes from them. A suite that changed is measured all the same.
    """
    if ready.base is None or request.measure_all:
        return None
    same, differences = _compared(request, services, ready.head, ready.base)
    candidates = [] if differences else _without_floor(ready)
    if not candidates:
        return Identity(same=same, differences=differences)
    sample = drawn(candidates, request.config.identical_sample, ready.bench.seed)
    left = [cell.key for cell, _ in candidates if cell.key not in sample]
    if not left:
        return Identity(same=same, sample=sample)
    services.say(f"nothing that runs differs: looking at what {len(left)} of {len(ready.survey.cells)} cells compile")
    home = _home(ready.head, request.config.benchmarks)
    seen = [looked(ready.bench, built.side, left, home) for built in (ready.head, ready.base)]
    reads, differences = _compared_reads(request, ready, *seen)
    if differences:
        return Identity(same=same, differences=differences)
    return Identity(same=same | reads, unmeasured=_alike(left, *seen), sample=sample)


def drawn(candidates: Sequence[tuple[CellInfo, bool]], share: float, seed: int) -> list[str]:
    """Return the keys of ``share`` of the cells (each with whether it is gated), one at least, a gated one first."""
    generator = random.Random(f"{seed}:identical")
    keys = [cell.key for cell, _ in candidates]
    first = generator.choice([cell.key for cell, gated in candidates if gated] or keys)
    others = generator.sample([key for key in keys if key != first], len(keys) - 1)
    wanted = max(1, math.ceil(round(share * len(keys), 9)))
    return [first, *others][:wanted]


def _compared(request: Request, services: Services, head: Built, base: Built) -> tuple[dict[str, str], list[str]]:
    """Return name -> digest of what is the same, and a line for all that isn't."""
    if head.environment is not None or base.environment is not None:
        return {}, ["the sides are measured in environments of their own"]
    ours, theirs = (
        contents_of_build(Path(one.side.path[0]), one.commit.build or "")
        | {"suite": contents_of_folder(one.benchmarks_dir)}
        for one in (head, base)
    )
    same, differences = {}, []
    for name, files in ours.items():
        changed = [path for path in sorted({*files, *theirs[name]}) if files.get(path) != theirs[name].get(path)]
        if changed:
            differences.append(f"{name}: {_named(changed)}")
        elif files:
            same[name] = _digest(files)
    # One process serves both sides: these are recorded so that a reader can see what they were.
    same["packages"] = _digest(_packages())
    same["environment"] = _digest(allowed(services.environment, request.config.environment))
    return same, differences


def _without_floor(ready: Session) -> list[tuple[CellInfo, bool]]:
    """Return the cells with whether they are gated; a SOL floor can't be checked without a time."""
    device = ready.header.fingerprint.device
    limits = [
        (cell, cell_thresholds(ready.header.config, cell, device=device, base_s=None)) for cell in ready.survey.cells
    ]
    return [(cell, each.gated) for cell, each in limits if each.sol_floor is None]


def _alike(keys: Sequence[str], head: Mapping[str, Looked], base: Mapping[str, Looked]) -> dict[str, str | None]:
    return {
        key: head[key].caches for key in keys if key in head and key in base and head[key].caches == base[key].caches
    }


def _compared_reads(
    request: Request, ready: Session, head: Mapping[str, Looked], base: Mapping[str, Looked]
) -> tuple[dict[str, str], list[str]]:
    """Compare what benchmarks read of the repository outside their folder, between the two commits."""
    assert ready.base is not None, "reads are compared between two sides"
    ours, theirs = (_home(built, request.config.benchmarks) for built in (ready.head, ready.base))
    names = {name for side in (head, base) for look in side.values() for name in look.read}
    names = {name for name in names if not _is_compared_otherwise(ours / name, ours, request)}
    found = {name: (content_digest(ours / name), content_digest(theirs / name)) for name in sorted(names)}
    changed = [name for name, (one, other) in found.items() if one != other]
    if changed:
        return {}, [f"{READ}: {_named(changed)}"]
    return ({READ: _digest({name: str(one) for name, (one, _) in found.items()})} if found else {}), []


def _is_compared_otherwise(path: Path, home: Path, request: Request) -> bool:
    """Return whether a file belongs to the suite, a build, the interpreter or solwatch, where it lies in a clone."""
    ruler = Path(solwatch.__file__).parent
    folders = [request.config.benchmarks, WHEELS, request.config.records]
    return any(path.is_relative_to(one) for one in [ruler, Path(sys.prefix), *(home / folder for folder in folders)])


def _home(built: Built, benchmarks: str) -> Path:
    """Return the folder of the commit that the suite lies in: its own export, or the working tree."""
    home = built.benchmarks_dir
    for _ in PurePath(benchmarks).parts:
        home = home.parent
    return home


def _packages() -> dict[str, str]:
    installed = {one.metadata["Name"] or "": one.version for one in importlib.metadata.distributions()}
    return installed | {"Python": sys.version}


def _digest(entries: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(entries.items())).encode()).hexdigest()


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    return ", ".join(paths[:MOST_NAMED]) + more
