"""A cell's case: everything known of it before a rule decides."""

from collections.abc import Sequence

import msgspec

from solwatch.judge.accepted import accepted_for, size_of
from solwatch.judge.failures import Finding, failure_finding
from solwatch.judge.judgement import CellFacts
from solwatch.judge.launch_path import NULL_KERNEL, null_info
from solwatch.judge.rule import ComparedCell, Replicate
from solwatch.judge.series import RoundFacts, rounds_by_cell, series
from solwatch.judge.side import rated_excess, side_facts
from solwatch.judge.thresholds import INTERVAL_LEVEL, VOID_SHARE, cell_thresholds
from solwatch.judge.unmeasured import identical_finding
from solwatch.model.cell import CellInfo
from solwatch.model.record import CellRound, Record, RecordHeader
from solwatch.model.verdict import Reason, Verdict
from solwatch.stats.ratio import time_estimate


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One cell with its facts and, where no statistics are needed, what was found."""

    info: CellInfo
    facts: CellFacts
    finding: Finding | None
    alone: bool

    @property
    def gated(self) -> bool:
        """Whether the cell counts for the exit code."""
        return self.facts.thresholds.gated and (self.finding is None or self.finding.counts)

    @property
    def compared(self) -> ComparedCell:
        """What a rule decides about."""
        return ComparedCell(
            key=self.info.key,
            replicates=[
                Replicate(fact.ordinal, fact.head_slot, fact.log_ratio)
                for fact in self.facts.rounds
                if fact.log_ratio is not None
            ],
            min_effect=self.facts.thresholds.min_effect,
            margin=self.facts.thresholds.margin,
            most_rounds=self.facts.thresholds.most_rounds,
            accepted=self.facts.thresholds.accepted,
        )


def cases(record: Record) -> list[Case]:
    """Return the case of every cell of the record, in the header's order, and of the null kernel last."""
    measured = rounds_by_cell(record)
    found = []
    for info in [*record.header.cells, *([null_info()] if NULL_KERNEL in measured else [])]:
        rounds = measured.get(info.key, [])
        found.append(_case(record.header, info, series(rounds), [one.cell for one in rounds]))
    return found


def _case(header: RecordHeader, info: CellInfo, rounds: list[RoundFacts], measured: Sequence[CellRound]) -> Case:
    work = header.work.get(info.key)
    alone = header.base is None
    # Taken from the rounds before the first look only, so that δ1 stands still afterwards.
    first_look = min(header.config.rounds)
    early = time_estimate([fact.base_s for fact in rounds[:first_look] if fact.base_s is not None], INTERVAL_LEVEL)
    facts = CellFacts(
        key=info.key,
        unit=info.unit,
        work=work,
        head=side_facts(
            [cell.head for cell in measured],
            [fact.head_s for fact in rounds if fact.head_s is not None],
            work,
            header.ceilings,
        ),
        base=None
        if alone
        else side_facts(
            [cell.base for cell in measured if cell.base is not None],
            [fact.base_s for fact in rounds if fact.base_s is not None],
            work,
            header.ceilings,
        ),
        rounds=rounds,
        thresholds=cell_thresholds(
            header.config,
            info,
            device=header.fingerprint.device,
            base_s=early.point if early else None,
            accepted=size_of(accepted_for(header, info.key)),
        ),
    )
    if not measured and (identical := identical_finding(header.identity, info.key)) is not None:
        return Case(info=info, facts=facts, finding=identical, alone=alone)
    finding = failure_finding(measured) or _impossible(header, facts)
    if finding is None or finding.verdict is Verdict.NEW:
        finding = _untrusted(facts, head_only=alone or finding is not None) or finding
    if finding is None and alone:
        finding = Finding(
            verdict=Verdict.NEW,
            reason=Reason.MEASURED_ALONE,
            evidence=["measured alone: there is no base to compare with; floors apply"],
        )
    return Case(info=info, facts=facts, finding=finding, alone=alone)


def _impossible(header: RecordHeader, facts: CellFacts) -> Finding | None:
    sides = [("head", facts.head)] + ([("base", facts.base)] if facts.base is not None else [])
    evidence = []
    for name, side in sides:
        excess = rated_excess(facts.work, side.time.point if side.time else None, header.ceilings)
        if excess:
            evidence.append(f"{name}: {excess}")
    if not evidence:
        return None
    return Finding(verdict=Verdict.VOID, reason=Reason.CEILING_EXCEEDED, evidence=evidence)


def _untrusted(facts: CellFacts, *, head_only: bool) -> Finding | None:
    dropped = [fact for fact in facts.rounds if (fact.head_s is None if head_only else fact.dropped is not None)]
    if not dropped or len(dropped) <= VOID_SHARE * len(facts.rounds):
        return None
    causes = list(dict.fromkeys(fact.dropped for fact in dropped if fact.dropped))
    return Finding(
        verdict=Verdict.VOID,
        reason=Reason.UNTRUSTED,
        evidence=[
            f"{len(dropped)} of {len(facts.rounds)} rounds can't be used, more than {100 * VOID_SHARE:g} %",
            *causes[:3],
        ],
    )
