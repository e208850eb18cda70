"""A measuring session: sides built, device locked, fork server up, cells surveyed; ready to measure."""

import contextlib
import fnmatch
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from solwatch import __version__
from solwatch.app.builds import Built, build, builder_for
from solwatch.app.device_lock import device_lock
from solwatch.app.measuring import Progress
from solwatch.app.processes import ForkServer
from solwatch.app.selection import expressions_of
from solwatch.app.sides import Bench
from solwatch.app.survey import Survey, survey
from solwatch.device.resolving import resolve_device
from solwatch.model.cell import CellSelection
from solwatch.model.config import Config
from solwatch.model.ports import Clock
from solwatch.model.record import RecordHeader
from solwatch.workspace.git import Repository
from solwatch.workspace.records import SCHEMA


@dataclass(frozen=True, kw_only=True)
class Request:
    """What was asked: the commits' names (``None`` as head is the working tree), device, cells, seed."""

    command: str
    head: str | None
    base: str | None
    device: str
    selection: CellSelection
    config: Config
    seed: int | None = None
    rounds: int | None = None


@dataclass(frozen=True, kw_only=True)
class Services:
    """What the plots are handed: repository, clock, environment, machine name, and where they speak."""

    repository: Repository
    clock: Clock
    environment: Mapping[str, str]
    machine: str
    say: Callable[[str], None]
    progress: Callable[[int, float], AbstractContextManager[Progress]]


@dataclass(frozen=True, kw_only=True)
class Session:
    """What is ready to be measured. ``base`` is ``None`` in a run of head alone."""

    bench: Bench
    head: Built
    base: Built | None
    survey: Survey
    header: RecordHeader

    @property
    def device_type(self) -> str:
        """``cuda`` or ``cpu``."""
        return self.bench.device.split(":")[0]


@contextlib.contextmanager
def session(request: Request, services: Services) -> Iterator[Session]:
    """Build both sides, hold the device's lock, start the fork server and survey the cells."""
    expressions_of(request.selection)  # a request that makes no sense is refused before anything is built
    device = resolve_device(request.device)
    head, base = _built(request, services, device.split(":")[0])
    if base is not None and head.commit.build == base.commit.build:
        services.say("head and base are one and the same build: only noise can differ between them")
    with device_lock(device, services.say), _server(request, services) as server:
        bench = _bench(request, services, device, head, server)
        services.say(f"surveying cells and ceilings on {device}")
        found = survey(bench, head.side, (base.side, base.benchmarks_dir) if base else None, request.selection)
        header = _header(request, services, found, head, base, bench.seed)
        yield Session(bench=bench, head=head, base=base, survey=found, header=header)


def _built(request: Request, services: Services, device_type: str) -> tuple[Built, Built | None]:
    repository = services.repository
    head = repository.working_tree() if request.head is None else repository.resolve(request.head)
    base = repository.resolve(request.base) if request.base is not None else None
    if request.head is not None and repository.is_dirty():
        services.say("the working tree has changes that are not measured; --working-tree measures them as head")
    builder = builder_for(repository, request.config, device_type, services.environment)
    built_base = build(repository, builder, base, "base", request.config, services.say) if base else None
    return build(repository, builder, head, "head", request.config, services.say), built_base


def _server(request: Request, services: Services) -> ForkServer:
    allowed = {
        name: value
        for name, value in services.environment.items()
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in request.config.environment)
    }
    return ForkServer(allowed, services.repository.root / request.config.records / "logs")


def _bench(request: Request, services: Services, device: str, head: Built, server: ForkServer) -> Bench:
    return Bench(
        server=server,
        benchmarks_dir=head.benchmarks_dir,
        device=device,
        seed=request.seed if request.seed is not None else secrets.randbits(31),
        caches_dir=services.repository.root / request.config.records / "caches",
        hang_s=request.config.hang_s,
    )


def _header(
    request: Request, services: Services, found: Survey, head: Built, base: Built | None, seed: int
) -> RecordHeader:
    return RecordHeader(
        schema=SCHEMA,
        solwatch=__version__,
        command=request.command,
        created_at=services.clock.now(),
        machine=services.machine,
        seed=seed,
        head=head.commit,
        base=base.commit if base else None,
        config=request.config,
        fingerprint=found.fingerprint,
        ceilings=found.ceilings,
        cells=found.cells + [each.info for each in found.vanished],
        work=found.work,
        notes=found.notes,
    )
