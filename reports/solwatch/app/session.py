"""A measuring session: sides built, device locked, fork server up, cells surveyed; ready to measure."""

import contextlib
import fnmatch
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from solwatch import __version__
from solwatch.app.acceptances import accepted_between, day_of
from solwatch.app.builds import Builds, Built, build, builder_for, packed_builds, suite_of
from solwatch.app.device_lock import device_lock
from solwatch.app.environments import activated, in_environments
from solwatch.app.fingerprints import ENVIRONMENT_FIELDS, Fingerprints, require_alike
from solwatch.app.foreign import require_free
from solwatch.app.measuring import Progress
from solwatch.app.preview import require_offered
from solwatch.app.processes import CellFailed, ForkServer
from solwatch.app.selection import chosen_by_hand, expressions_of
from solwatch.app.sides import Bench
from solwatch.app.survey import Survey, survey
from solwatch.device.nvml import Gpu
from solwatch.device.places import Place, places_of
from solwatch.model.acceptance import Acceptance
from solwatch.model.cell import CellSelection
from solwatch.model.config import Config
from solwatch.model.errors import MachineError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.ports import Clock
from solwatch.model.record import Commit, GpuIdentity, RecordHeader
from solwatch.model.reference import Reference
from solwatch.workspace.files import require_writable
from solwatch.workspace.git import Repository
from solwatch.workspace.records import SCHEMA


@dataclass(frozen=True, kw_only=True)
class Request:
    """What was asked: the commits' names (``None`` as head is the working tree), device or GPUs, cells, seed.

    ``head_env``, ``base_env``: existing environments to measure the head commit in; with both there is no ``base``.
    ``measure_all``: cells whose two sides are the same too. ``builds``: a folder of builds packed elsewhere, instead
    of a compiler. ``reference``: why ``base`` was chosen, where it is the pinned reference. ``profile``: slower cells
    under ncu, where it is there.
    """

    command: str
    head: str | None
    base: str | None
    device: str
    selection: CellSelection
    config: Config
    seed: int | None = None
    rounds: int | None = None
    gpus: str | None = None
    builds: Path | None = None
    head_env: Path | None = None
    base_env: Path | None = None
    measure_all: bool = False
    profile: bool = True
    reference: Reference | None = None


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
    """What is ready to be measured. ``base`` is ``None`` in a run of head alone.

    ``benches``: one for each GPU that the rounds are spread over.
    """

    benches: list[Bench]
    head: Built
    base: Built | None
    survey: Survey
    header: RecordHeader

    @property
    def bench(self) -> Bench:
        """The first of the benches, where the survey was made."""
        return self.benches[0]

    @property
    def device_type(self) -> str:
        """``cuda`` or ``cpu``."""
        return self.bench.device.split(":")[0]


@contextlib.contextmanager
def session(request: Request, services: Services) -> Iterator[Session]:
    """Build both sides, hold the devices' locks, start the fork servers and survey the cells."""
    expressions_of(request.selection)  # a request that makes no sense is refused before anything is built
    require_writable(services.repository.root / request.config.records)  # nor is anything built for nothing
    places = places_of(request.device, request.gpus)
    require_alike({place.device: _seen_by_nvml(place.gpu) for place in places if place.gpu})
    commits = _commits(request, services)
    accepted = accepted_between(services.repository, *commits, day_of(services.clock), services.say)
    head, base = _built(request, services, *commits, places[0].device.split(":")[0])
    apart = base is not None and base.environment is not None
    if base is not None and not apart and head.commit.build == base.commit.build:
        services.say("head and base are one and the same build: only noise can differ between them")
    with device_lock(places, services.say), contextlib.ExitStack() as servers:
        for place in places:
            require_free(place)
        benches = _benches(request, services, places, head, base if apart else None, servers)
        bench = benches[0]
        services.say(f"surveying cells and ceilings on {bench.device}")
        if base and apart:
            _require_opens(bench, base)
        found = survey(
            bench,
            head.side,
            (base.side, base.benchmarks_dir) if base else None,
            request.selection,
            request.config.cells,
        )
        header = _header(request, services, found, head, base, bench, places, accepted)
        yield Session(benches=benches, head=head, base=base, survey=found, header=header)


def _seen_by_nvml(gpu: GpuIdentity) -> Fingerprint:
    """Return what is known of a GPU before anything is built; the workers' own fingerprints are compared too."""
    return Gpu(gpu.uuid or "").fingerprint(model="", cuda=None, torch=None)


def _commits(request: Request, services: Services) -> tuple[Commit, Commit | None]:
    repository = services.repository
    head = repository.working_tree() if request.head is None else repository.resolve(request.head)
    base = repository.resolve(request.base) if request.base is not None else None
    return head, base


def _built(
    request: Request, services: Services, head: Commit, base: Commit | None, device_type: str
) -> tuple[Built, Built | None]:
    repository = services.repository
    at_head = request.head is not None and head.sha == repository.resolve("HEAD").sha
    if at_head and repository.is_dirty():
        services.say("the working tree has changes that are not measured; --working-tree measures them as head")
    builder = _builder(request, services, device_type)
    commits = [head, base] if base else [head]
    if chosen_by_hand(request.selection) and not all(map(builder.has, commits)):
        _preview(request, services, commits, device_type)
    if request.head_env is not None:
        folders = {"head": request.head_env} | ({"base": request.base_env} if request.base_env else {})
        sides = in_environments(
            folders,
            lambda: build(repository, builder, head, "the commit", request.config, services.say),
            _allowed(request, services),
            on_gpu=device_type == "cuda",
            say=services.say,
        )
        return sides["head"], sides.get("base")
    built_base = build(repository, builder, base, "base", request.config, services.say) if base else None
    return build(repository, builder, head, "head", request.config, services.say), built_base


def _builder(request: Request, services: Services, device_type: str) -> Builds:
    if request.builds is not None:
        return packed_builds(services.repository, request.config, request.builds)
    return builder_for(services.repository, request.config, device_type, services.environment)


def _preview(request: Request, services: Services, commits: Sequence[Commit], device_type: str) -> None:
    """Refuse names that no cell answers to while nothing is built yet."""
    suites = [suite_of(services.repository, commit, request.config) for commit in commits]
    logs = services.repository.root / request.config.records / "logs" / "preview"
    with ForkServer(_allowed(request, services), logs, measures=False) as server:
        limit_s = request.config.hang_s
        require_offered(server, suites, request.selection, device_type=device_type, limit_s=limit_s)


def _allowed(request: Request, services: Services) -> dict[str, str]:
    return {
        name: value
        for name, value in services.environment.items()
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in request.config.environment)
    }


def _server(request: Request, services: Services, built: Built, lane: str) -> ForkServer:
    """Start the fork server of the environment that ``built`` is measured in, of this process's own without one."""
    home, variables = services.repository.root / request.config.records, _allowed(request, services)
    if built.environment is None:
        return ForkServer(variables, home / "logs" / lane)
    return ForkServer(
        activated(built.environment, variables, home / "ruler"),
        home / "logs" / lane / built.side.name,
        python=str(Path(built.environment.path) / "bin" / "python"),
    )


def _require_opens(bench: Bench, base: Built) -> None:
    """Raise ``MachineError`` when the suite doesn't open in base's environment: every cell would be a new one."""
    try:
        worker, _ = bench.start(base.side, 1)
    except CellFailed as error:
        where = base.environment.path if base.environment else "base"
        raise MachineError(
            f"the suite does not open on {bench.device} in {where}: {error.failure.kind}: {error.failure.message}"
        ) from None
    worker.close()


def _benches(
    request: Request,
    services: Services,
    places: Sequence[Place],
    head: Built,
    base_apart: Built | None,
    servers: contextlib.ExitStack,
) -> list[Bench]:
    """Return a bench for each place, with processes and caches of its own; ``base_apart``: base in an environment."""
    seed = request.seed if request.seed is not None else secrets.randbits(31)
    fingerprints = Fingerprints(ENVIRONMENT_FIELDS if base_apart else frozenset())
    benches = []
    for number, place in enumerate(places):
        lane = f"gpu-{number}" if len(places) > 1 else ""
        bench = Bench(
            server=servers.enter_context(_server(request, services, head, lane)),
            benchmarks_dir=head.benchmarks_dir,
            device=place.device,
            seed=seed,
            caches_dir=services.repository.root / request.config.records / "caches" / lane,
            hang_s=request.config.hang_s,
            base_server=servers.enter_context(_server(request, services, base_apart, lane)) if base_apart else None,
            fingerprints=fingerprints,
            gpu=place.gpu.index if place.gpu else None,
            lane=(number, len(places)),
        )
        benches.append(bench)
    return benches


def _header(
    request: Request,
    services: Services,
    found: Survey,
    head: Built,
    base: Built | None,
    bench: Bench,
    places: Sequence[Place],
    accepted: list[Acceptance],
) -> RecordHeader:
    return RecordHeader(
        schema=SCHEMA,
        solwatch=__version__,
        command=request.command,
        created_at=services.clock.now(),
        machine=services.machine,
        seed=bench.seed,
        head=head.commit,
        base=base.commit if base else None,
        config=request.config,
        fingerprint=found.fingerprint,
        ceilings=found.ceilings,
        cells=found.cells + [each.info for each in found.vanished],
        work=found.work,
        notes=found.notes,
        base_fingerprint=bench.fingerprints.of("base") if bench.base_server else None,
        head_env=head.environment,
        base_env=base.environment if base else None,
        gpus=[place.gpu for place in places if place.gpu],
        accepted=accepted,
        reference=request.reference,
    )
