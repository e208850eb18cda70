"""The plots of ``gate`` and ``run``: measure a session in rounds, judge, keep, report."""

import contextlib
import shlex
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import msgspec

from solwatch.app.explaining import why
from solwatch.app.identical import identity
from solwatch.app.keeping import keep
from solwatch.app.measuring import Measuring, measure
from solwatch.app.outcome import Outcome
from solwatch.app.rounds import Plan
from solwatch.app.session import Request, Services, Session, session
from solwatch.judge.judging import judge
from solwatch.judge.two_stage import TwoStage
from solwatch.model.errors import SolwatchError
from solwatch.model.record import Record, RecordHeader, record_stem
from solwatch.workspace.records import RecordWriter, add_why

GATE_PLANS = {"cuda": Plan(turns=4, block_s=0.012, adapts=True), "cpu": Plan(turns=4, block_s=0.04)}
RUN_PLANS = {"cuda": Plan(turns=4, block_s=0.02, energy_s=0.5), "cpu": Plan(turns=4, block_s=0.06, energy_s=0.1)}
RUN_ROUNDS = 3


def compare(request: Request, services: Services) -> Outcome:
    """Measure head against base, or head alone, judge, and look for the reason of what got slower or faster."""
    root = services.repository.root
    with session(request, services) as ready:
        ready = _without_identical(request, services, ready)
        path = record_path(root / request.config.records, ready.header)
        record = _measured(request, services, ready, path)
        judgement = judge(record)
        with _said_where_rounds_are(services, path):
            found = why(services, ready, record, judgement, profile=request.profile)
    if found is not None:
        record = msgspec.structs.replace(record, why=found)
        judgement = judge(record)
        try:
            add_why(path, found)
        except SolwatchError as error:  # the verdict stands, and the report still says why
            services.say(f"the reasons were not kept in the record: {error}")
    return Outcome(record=record, judgement=judgement, kept=keep(record, judgement, root, path))


def _without_identical(request: Request, services: Services, ready: Session) -> Session:
    """Return the session without the cells that run the same on both sides; its record says which they are."""
    found = identity(request, services, ready)
    left_out = found.unmeasured if found else {}
    cells = [cell for cell in ready.survey.cells if cell.key not in left_out]
    if left_out:
        services.say(
            f"{len(left_out)} of {len(ready.survey.cells)} cells are not measured: nothing that they run has changed "
            "(--measure-all measures them)"
        )
    header = msgspec.structs.replace(ready.header, identity=found)
    return replace(ready, survey=replace(ready.survey, cells=cells), header=header)


def _measured(request: Request, services: Services, ready: Session, path: Path) -> Record:
    base = ready.base
    rule = TwoStage.from_config(request.config)
    most = request.rounds or (rule.most_rounds if base else RUN_ROUNDS)
    if base:
        _say_what_is_too_short(request, services, most, rule.least_rounds)
    job = Measuring(
        benches=ready.benches,
        head=ready.head.side,
        base=base.side if base else None,
        survey=ready.survey,
        header=ready.header,
        plan=(GATE_PLANS if base else RUN_PLANS)[ready.device_type],
        most_rounds=most,
    )
    with (
        _said_where_rounds_are(services, path),
        RecordWriter.create(path, ready.header) as writer,
        services.progress(most, request.config.budget_s) as progress,
    ):
        return measure(job, writer, progress, clock=services.clock)


@contextlib.contextmanager
def _said_where_rounds_are(services: Services, path: Path) -> Iterator[None]:
    try:
        yield
    except (KeyboardInterrupt, SolwatchError):
        services.say(f"completed rounds are kept: {shlex.join(['solwatch', 'report', str(path)])} judges them")
        raise


def _say_what_is_too_short(request: Request, services: Services, most: int, least: int) -> None:
    limits = [("rounds are", most, "--rounds")]
    limits += [
        (f"cells that match {override.match!r} are", override.most_rounds, "their most_rounds")
        for override in request.config.cells
        if override.most_rounds is not None
    ]
    for what, limit, option in limits:
        if limit < least:
            services.say(f"{what} limited to {limit}, a slowdown can't show in less than {least}: raise {option}")


def record_path(folder: Path, header: RecordHeader) -> Path:
    """Return where a record lies: time, then base and head; numbered where there is one of that name already.

    Two runs can have one time: a clock that is set back tells it twice.
    """
    name = record_stem(header)
    path = folder / "records" / f"{name}.jsonl"
    for number in count(2):
        if not path.exists():
            break
        path = path.with_name(f"{name}-{number}.jsonl")
    return path
