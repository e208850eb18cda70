"""The plots of ``gate`` and ``run``: build, survey, measure in rounds, judge, keep, report."""

import fnmatch
import secrets
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from solwatch import __version__
from solwatch.app.builds import Built, build, builder_for
from solwatch.app.device_lock import device_lock
from solwatch.app.keeping import Kept, keep
from solwatch.app.measuring import Measuring, Progress, measure
from solwatch.app.processes import ForkServer
from solwatch.app.rounds import Plan
from solwatch.app.selection import expressions_of
from solwatch.app.sides import Bench
from solwatch.app.survey import Survey, survey
from solwatch.device.resolving import resolve_device
from solwatch.judge.judgement import Judgement
from solwatch.judge.judging import judge
from solwatch.model.cell import CellSelection
from solwatch.model.config import Config
from solwatch.model.errors import SolwatchError
from solwatch.model.ports import Clock
from solwatch.model.record import Commit, Record, RecordHeader
from solwatch.workspace.git import Repository
from solwatch.workspace.records import SCHEMA, RecordWriter

GATE_PLANS = {"cuda": Plan(turns=4, block_s=0.01), "cpu": Plan(turns=4, block_s=0.04)}
RUN_PLANS = {"cuda": Plan(turns=4, block_s=0.02, energy_s=0.5), "cpu": Plan(turns=4, block_s=0.06, energy_s=0.1)}
RUN_ROUNDS = 3


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
class Outcome:
    """What came of it: the record, its judgement, and where things were written."""

    record: Record
    judgement: Judgement
    kept: Kept


def compare(request: Request, services: Services) -> Outcome:
    """Measure head against base, or head alone, and judge."""
    expressions_of(request.selection)  # a request that makes no sense is refused before anything is built
    device = resolve_device(request.device)
    device_type = device.split(":")[0]
    head, base = _built(request, services, device_type)
    with device_lock(device, services.say), _server(request, services) as server:
        bench = _bench(request, services, device, head, server)
        services.say(f"surveying cells and ceilings on {device}")
        found = survey(bench, head.side, (base.side, base.benchmarks_dir) if base else None, request.selection)
        header = _header(request, services, found, head.commit, base.commit if base else None, bench.seed)
        path = record_path(services.repository.root / request.config.records, header)
        record = _measured(request, services, bench, head, base, found, header, path)
    judgement = judge(record)
    return Outcome(record=record, judgement=judgement, kept=keep(record, judgement, services.repository.root, path))


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
    request: Request, services: Services, found: Survey, head: Commit, base: Commit | None, seed: int
) -> RecordHeader:
    return RecordHeader(
        schema=SCHEMA,
        solwatch=__version__,
        command=request.command,
        created_at=services.clock.now(),
        machine=services.machine,
        seed=seed,
        head=head,
        base=base,
        config=request.config,
        fingerprint=found.fingerprint,
        ceilings=found.ceilings,
        cells=found.cells + found.vanished,
        work=found.work,
        notes=found.notes,
    )


def _measured(
    request: Request,
    services: Services,
    bench: Bench,
    head: Built,
    base: Built | None,
    found: Survey,
    header: RecordHeader,
    path: Path,
) -> Record:
    device_type = bench.device.split(":")[0]
    most = request.rounds or (max(request.config.rounds) if base else RUN_ROUNDS)
    job = Measuring(
        bench=bench,
        head=head.side,
        base=base.side if base else None,
        survey=found,
        header=header,
        plan=(GATE_PLANS if base else RUN_PLANS)[device_type],
        most_rounds=most,
    )
    try:
        with RecordWriter.create(path, header) as writer, services.progress(most, request.config.budget_s) as progress:
            return measure(job, writer, progress, clock=services.clock)
    except (KeyboardInterrupt, SolwatchError):
        services.say(f"completed rounds are kept: 'solwatch report {path}' judges them")
        raise


def record_path(folder: Path, header: RecordHeader) -> Path:
    """Return where a record lies: time, then base and head."""
    stamp = header.created_at[:19].replace(":", "").replace("-", "")
    sides = [one.sha[:8] + ("-dirty" if one.dirty else "") for one in (header.base, header.head) if one]
    return folder / "records" / f"{stamp}-{'-'.join(sides)}.jsonl"
