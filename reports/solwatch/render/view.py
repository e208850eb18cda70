"""The view model: a record and its judgement as rows and lines that are ready to be shown."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from solwatch.judge.accepted import acceptance_notes
from solwatch.judge.judgement import CellFacts, Judgement
from solwatch.model.plain import plain
from solwatch.model.record import Commit, Record
from solwatch.model.verdict import CellVerdict, Reason, Verdict
from solwatch.render.course import Moment, run_course, void_blocks
from solwatch.render.details import Detail, cell_detail
from solwatch.render.environments import environment_lines, environment_notes
from solwatch.render.headline import SEVERITY, Headline, headline
from solwatch.render.placing import Place, place_of
from solwatch.render.repeat import repeat_lines
from solwatch.render.setting import (
    Setting,
    ceiling_lines,
    device_lines,
    model_text,
    run_lines,
    shared_lines,
    threshold_lines,
)
from solwatch.render.units import ABSENT, percentage, quantity, scaled
from solwatch.render.unscored import unscored_lines
from solwatch.render.verdict_view import verdict_view
from solwatch.render.why import WhyView, why_notes, why_views


@dataclass(frozen=True)
class CommitView:
    """One commit as shown: short and full name, subject, date, and a mark for uncommitted changes."""

    role: str
    name: str
    short: str
    sha: str
    subject: str
    date: str
    dirty: bool


@dataclass(frozen=True)
class CellRow:
    """One cell as shown. Figures for charts are fractions or ratios; everything else is text."""

    index: int
    anchor: str
    key: str
    benchmark: str
    layer: str
    size: float | None
    size_name: str
    spelled: str
    verdict: str
    verdict_text: str
    reason: str
    labels: list[str]
    gated: bool
    change: str
    interval: str
    head_time: str
    base_time: str
    score: str
    score_before: str
    mfu: str
    mfu_at_clock: str
    mbu: str
    bound: str
    energy: str
    mde: str
    power: str
    rounds_used: int
    voided: list[str]
    detectable: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    min_effect: float
    margin: float
    head_score: float | None
    base_score: float | None
    sol_floor: float | None
    evidence: list[str]
    detail: Detail
    verdict_key: Verdict
    facts: CellFacts


@dataclass(frozen=True)
class ReportView:
    """Everything that a report shows.

    ``spread``: cells were measured on several GPUs. ``alone``: there is no base, so no comparison columns.
    ``plainly_measured``: alone, and every cell was simply measured, so that a column of verdicts would say nothing.
    ``unscored``: why cells have no SOL score, a line for each reason. ``why``: reasons, by the cell's key.
    """

    headline: Headline
    alone: bool
    plainly_measured: bool
    commits: list[CommitView]
    rows: list[CellRow]
    peers: list[CellRow]
    device: list[Setting]
    ceilings: list[Setting]
    run: list[Setting]
    repeat: list[Setting]
    course: list[Moment]
    shared: list[Setting]
    thresholds: list[Setting]
    unscored: list[str]
    notes: list[str]
    summary: str
    created: str
    version: str
    why: dict[str, WhyView]


def report_view(record: Record, judgement: Judgement) -> ReportView:
    """Return the view of ``judgement``; cells are ordered worst first, then as the record lists them."""
    header = record.header
    infos = {info.key: info for info in header.cells}
    voids = void_blocks(record)
    rows = worst_first(
        _row(index, cell, judgement.facts[cell.key], place_of(infos.get(cell.key)), voids.get(cell.key, {}))
        for index, cell in enumerate(judgement.verdicts)
    )
    return ReportView(
        headline=headline(record, judgement),
        alone=header.base is None,
        plainly_measured=all(cell.reason is Reason.MEASURED_ALONE for cell in judgement.verdicts),
        commits=[_commit("head", header.head)] + ([_commit("base", header.base)] if header.base else []),
        rows=[row for row in rows if row.facts.thresholds.gated],
        peers=[row for row in rows if not row.facts.thresholds.gated],
        device=device_lines(header.fingerprint, header.gpus) + environment_lines(header),
        ceilings=ceiling_lines(header.ceilings),
        run=run_lines(record, judgement),
        repeat=repeat_lines(header),
        course=run_course(record),
        shared=shared_lines(header.identity),
        thresholds=threshold_lines(record, judgement),
        unscored=unscored_lines(judgement),
        notes=_notes(record),
        summary=_summary(record, judgement),
        created=_date(header.created_at),
        version=plain(header.solwatch),
        why=why_views(judgement),
    )


def worst_first(rows: Iterable[CellRow]) -> list[CellRow]:
    """Return ``rows`` by verdict, slower ones by how much: what is cut off at the end matters least."""

    def rank(row: CellRow) -> tuple[int, float]:
        return SEVERITY.index(row.verdict_key), -(row.ratio or 0.0) if row.verdict_key is Verdict.SLOWER else 0.0

    return sorted(rows, key=rank)


def _row(index: int, cell: CellVerdict, facts: CellFacts, place: Place, voids: dict[str, int]) -> CellRow:
    shown = verdict_view(cell)
    ratio = shown.ratio
    head, base = facts.head, facts.base
    head_score = head.score.sol_score if head.score else None
    base_score = base.score.sol_score if base and base.score else None
    void = cell.verdict is Verdict.VOID
    if void:
        head_score, base_score = None, None
    return CellRow(
        index=index,
        anchor=f"cell-{index + 1}",
        key=shown.key,
        benchmark=plain(cell.key.partition("(")[0]),
        layer=place.layer,
        size=place.size,
        size_name=place.size_name,
        spelled=place.spelled,
        verdict=cell.verdict.value,
        verdict_text=shown.word,
        reason=shown.reason,
        labels=shown.labels,
        gated=cell.gated,
        change=shown.change,
        interval=shown.interval,
        head_time=quantity(head.time.point if head.time else None, facts.unit),
        base_time=quantity(base.time.point if base and base.time else None, facts.unit),
        score=f"{head_score:.3f}" if head_score is not None else ABSENT,
        score_before=f"{base_score:.3f}" if base_score is not None else ABSENT,
        mfu=percentage(head.score.mfu if head.score and not void else None),
        mfu_at_clock=percentage(head.score.mfu_at_clock if head.score and not void else None),
        mbu=percentage(head.score.mbu if head.score and not void else None),
        bound=head.score.bound.value if head.score and not void else ABSENT,
        energy=scaled(head.energy_j, "J", 3),
        mde=shown.mde,
        power=shown.power,
        rounds_used=sum(fact.head_s is not None and fact.dropped is None for fact in facts.rounds),
        voided=[f"{count} × {plain(reason, 200)}" for reason, count in voids.items()],
        detectable=cell.mde,
        ratio=ratio.point if ratio else None,
        ratio_low=ratio.low if ratio else None,
        ratio_high=ratio.high if ratio else None,
        min_effect=facts.thresholds.min_effect,
        margin=facts.thresholds.margin,
        head_score=head_score,
        base_score=base_score,
        sol_floor=facts.thresholds.sol_floor,
        evidence=shown.evidence,
        detail=cell_detail(cell, facts),
        verdict_key=cell.verdict,
        facts=facts,
    )


def _commit(role: str, commit: Commit) -> CommitView:
    return CommitView(
        role=role,
        name=plain(commit.name, 80),
        short=plain(commit.sha[:10]),
        sha=plain(commit.sha, 64),
        subject=plain(commit.subject, 120),
        date=_date(commit.committed_at),
        dirty=commit.dirty,
    )


def _notes(record: Record) -> list[str]:
    notes = [plain(note) for note in record.header.notes]
    head, base = record.header.head, record.header.base
    if record.header.head_env is not None:
        notes = environment_notes(record.header) + notes
    elif base is not None and head.build is not None and head.build == base.build:
        notes.append("head and base are one and the same build: nothing that is built differs between them")
    if base is not None and record.header.reference is not None:
        notes.append(f"the reference is {_named(base)}: {plain(record.header.reference.why)}")
    return notes + [plain(note) for note in acceptance_notes(record.header)] + why_notes(record)


def _date(iso: str) -> str:
    try:
        return datetime.fromisoformat(iso.replace("Z", "+00:00")).strftime("%Y-%m-%d %H:%M %z").strip()
    except ValueError:
        return plain(iso, 40)


def _summary(record: Record, judgement: Judgement) -> str:
    header = record.header
    head = _named(header.head)
    against = f" against {_named(header.base)}" if header.base else ""
    if header.head_env is not None:
        against = f" in {plain(header.head_env.path)}"
        against += f" against {plain(header.base_env.path)}" if header.base_env else ""
    wall = f" in {record.end.wall_s:.0f} s" if record.end else ""
    rounds = f"{judgement.completed} round{'s' if judgement.completed != 1 else ''}"
    return f"{head}{against}, {rounds}{wall} on {model_text(header)}"


def _named(commit: Commit) -> str:
    changed = " with uncommitted changes" if commit.dirty else ""
    name = plain(commit.name, 60)
    short = plain(commit.sha[:8])
    return (f"{name} ({short})" if name and not commit.sha.startswith(name) else short) + changed
