"""From a record to a judgement."""

from collections.abc import Mapping, Sequence

import msgspec

from solwatch.judge.accepted import accepted_for, lapsed_for
from solwatch.judge.case import Case, cases
from solwatch.judge.evidence import acceptance_evidence, decision_evidence, interval, label_evidence, side_evidence
from solwatch.judge.floor import missed_floor, unchecked_floor
from solwatch.judge.judgement import CellFacts, Coverage, Judgement, LookDecision
from solwatch.judge.kernel_pairs import Reasons
from solwatch.judge.labels import cell_labels
from solwatch.judge.limits import limit_evidence, limit_reason
from solwatch.judge.reasons import all_reasons
from solwatch.judge.rule import Decision, Rule
from solwatch.judge.series import cycles_log_ratios, log_ratios, null_log_ratios
from solwatch.judge.side import measured_excess
from solwatch.judge.thresholds import INTERVAL_LEVEL, MIN_ROUNDS, Thresholds
from solwatch.judge.two_stage import TwoStage
from solwatch.judge.unmeasured import sample_evidence
from solwatch.model.estimate import Estimate
from solwatch.model.record import Ceilings, Record
from solwatch.model.verdict import CellVerdict, Reason, Verdict, exit_code
from solwatch.sol.score import CeilingKind, sol_limit
from solwatch.stats.centre import TRIM_FRACTION
from solwatch.stats.ratio import ratio_estimate

FLOORED = frozenset({Verdict.FASTER, Verdict.UNCHANGED, Verdict.ACCEPTED, Verdict.UNDECIDED, Verdict.NEW})
"""Verdicts that a missed SOL floor takes the place of; the others say something worse already."""


def judge(record: Record, rule: Rule | None = None) -> Judgement:
    """Return the judgement of ``record``: a function of it alone, so that it can be judged again.

    ``rule`` decides what the times say; the one that the record's configuration asks for when ``None``.
    Thresholds come from ``record.header.config``. Raises ``RequestError`` for a margin that is not below its
    min effect.
    """
    rule = rule or TwoStage.from_config(record.header.config)
    found = cases(record)
    thresholds = _thresholds(record, rule, found)
    decisions = _decide(record, rule, found)
    verdicts = [_verdict(case, decisions.get(case.info.key), thresholds, record) for case in found]
    facts = {case.info.key: _facts(case, decisions.get(case.info.key)) for case in found}
    reasons = all_reasons(record, verdicts, facts)
    return Judgement(
        verdicts=[_explained(cell, reasons.get(cell.key)) for cell in verdicts],
        facts=facts,
        coverage=Coverage.of(verdicts),
        exit_code=int(exit_code(verdicts, undecided=record.header.config.undecided)),
        thresholds=thresholds,
        looks=_looks(decisions),
        suspects=[
            key for key, decision in decisions.items() if decision.suspected_at is not None and not decision.final
        ],
        final=[
            case.info.key
            for case in found
            if case.info.kind != "null" and _is_final(case, decisions.get(case.info.key), len(record.rounds))
        ],
        completed=len(record.rounds),
        reasons=reasons,
    )


def _explained(cell: CellVerdict, found: Reasons | None) -> CellVerdict:
    """Return ``cell`` with its reasons right after what was measured."""
    if found is None or not found.sentences:
        return cell
    evidence = [*cell.evidence[:1], *found.sentences, *cell.evidence[1:]]
    return msgspec.structs.replace(cell, evidence=evidence)


def _thresholds(record: Record, rule: Rule, found: Sequence[Case]) -> Thresholds:
    config = record.header.config
    return Thresholds(
        rule=rule.name,
        rule_text=rule.text,
        false_alarm_rate=config.false_alarm_rate,
        miss_rate=config.miss_rate,
        looks=rule.looks,
        most_rounds=rule.most_rounds,
        family=_family(found, gated=True),
        trim_fraction=TRIM_FRACTION,
    )


def _decide(record: Record, rule: Rule, found: Sequence[Case]) -> dict[str, Decision]:
    # Peers are judged as a family of their own: they must not make the gate's own cells harder to decide.
    decisions: dict[str, Decision] = {}
    for gated in (True, False):
        compared = [case.compared for case in found if case.finding is None and case.gated is gated]
        decisions.update(
            rule.decide(
                compared,
                family=_family(found, gated=gated),
                completed=len(record.rounds),
                ended=record.end is not None,
            )
        )
    return decisions


def _family(found: Sequence[Case], *, gated: bool) -> int:
    """Count the cells that can raise a false alarm: those that are measured."""
    measured = [case for case in found if case.finding is None or case.finding.reason is not Reason.IDENTICAL]
    return sum(case.facts.thresholds.gated is gated for case in measured)


def _verdict(case: Case, decision: Decision | None, thresholds: Thresholds, record: Record) -> CellVerdict:
    facts = case.facts
    ratio = ratio_estimate(log_ratios(facts.rounds), INTERVAL_LEVEL)
    null_ratio = ratio_estimate(null_log_ratios(facts.rounds), INTERVAL_LEVEL)
    if case.finding is not None:
        verdict, reason, evidence = case.finding.verdict, case.finding.reason, list(case.finding.evidence)
    else:
        assert decision is not None, "a case without a finding is decided by the rule"
        verdict, reason = decision.verdict, decision.reason
        if verdict is Verdict.UNDECIDED:
            reason = limit_reason(decision, record, thresholds)
        own_limit = facts.thresholds.most_rounds if decision.reason is Reason.BUDGET else None
        advice = limit_evidence(reason, record, thresholds, own_limit)
        evidence = decision_evidence(decision, ratio, facts, thresholds.miss_rate, advice)
        held, lapsed = (find(record.header, case.info.key) for find in (accepted_for, lapsed_for))
        evidence[1:1] = acceptance_evidence(verdict, ratio, held, lapsed)
    missed, unchecked = missed_floor(facts, thresholds), unchecked_floor(facts, thresholds)
    if missed is not None and (verdict in FLOORED or verdict is Verdict.SLOWER):
        evidence.append(missed)
        if verdict in FLOORED:
            verdict, reason = Verdict.BELOW_FLOOR, Reason.UNDER_SOL_FLOOR
    elif unchecked is not None and verdict in FLOORED:
        evidence.insert(0, unchecked)
        if verdict is not Verdict.UNDECIDED:
            verdict, reason = Verdict.UNDECIDED, Reason.FLOOR_UNCHECKED
    cycles_ratio = ratio_estimate(cycles_log_ratios(facts.rounds), INTERVAL_LEVEL)
    if verdict in (Verdict.SLOWER, Verdict.FASTER, Verdict.ACCEPTED) and cycles_ratio is not None:
        evidence.append(f"in SM cycles, head / base is {interval(cycles_ratio)}")
    labels = cell_labels(verdict, facts)
    evidence += label_evidence(labels, facts)
    if verdict not in (Verdict.BROKEN, Verdict.VOID):
        evidence += side_evidence(facts, null_ratio, _beaten_ceilings(facts, record.header.ceilings))
    evidence += sample_evidence(record.header.identity, case.info.key)
    return CellVerdict(
        key=case.info.key,
        verdict=verdict,
        reason=reason,
        # The null kernel is there to raise an alarm: undecided, it must not count as a cell that was left open.
        gated=case.gated and (case.info.kind != "null" or verdict is Verdict.SLOWER),
        labels=labels,
        evidence=evidence,
        slowdown_ratio=ratio,
        null_ratio=null_ratio,
        cycles_ratio=cycles_ratio,
        mde=decision.mde if decision else None,
        power=decision.power if decision else None,
        p_value=decision.p_value if decision else None,
        min_effect=facts.thresholds.min_effect,
        margin=facts.thresholds.margin,
        rounds=len(facts.rounds),
    )


def _beaten_ceilings(facts: CellFacts, ceilings: Ceilings) -> list[str]:
    limit = sol_limit(facts.work, ceilings) if facts.work is not None else None
    if limit is None or limit.kind is not CeilingKind.MEASURED:
        return []
    time: Estimate | None = facts.head.time
    excess = measured_excess(facts.work, time.point if time else None, ceilings)
    return [f"head: {excess}"] if excess else []


def _facts(case: Case, decision: Decision | None) -> CellFacts:
    if decision is None:
        return case.facts
    return msgspec.structs.replace(case.facts, decided_at=decision.decided_at, suspected_at=decision.suspected_at)


def _looks(decisions: Mapping[str, Decision]) -> list[LookDecision]:
    fallen: dict[int, dict[str, Verdict]] = {}
    for key, decision in decisions.items():
        if decision.decided_at is not None:
            fallen.setdefault(decision.decided_at, {})[key] = decision.verdict
    return [LookDecision(completed=completed, verdicts=fallen[completed]) for completed in sorted(fallen)]


def _is_final(case: Case, decision: Decision | None, completed: int) -> bool:
    if case.facts.thresholds.most_rounds is not None and completed >= case.facts.thresholds.most_rounds:
        return True
    if decision is not None:
        return decision.final
    assert case.finding is not None, "a case is either found or decided"
    if case.finding.reason is Reason.UNTRUSTED:
        return False
    if case.finding.verdict is Verdict.NEW:
        return sum(fact.head_s is not None for fact in case.facts.rounds) >= MIN_ROUNDS
    return True
