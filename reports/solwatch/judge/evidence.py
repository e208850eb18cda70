"""The sentences that stand beside a verdict."""

import math
from collections.abc import Sequence

from solwatch.judge.accepted import terms
from solwatch.judge.judgement import CellFacts, SideFacts
from solwatch.judge.rule import Decision
from solwatch.model.acceptance import Acceptance
from solwatch.model.estimate import Estimate
from solwatch.model.verdict import Label, Verdict


def change(ratio: float, point: float | None = None) -> str:
    """Return a slowdown ratio in words: ``+2.31 %``, or ``6.40 times`` when it is far from 1.

    ``point``: the estimate that ``ratio`` is an end of the interval of; both ends are written as it is.
    """
    if not math.isfinite(ratio):
        return "beyond any measure"
    if 0.5 < (ratio if point is None else point) < 2:
        percent_changed = round(100 * (ratio - 1), 2)
        return f"{percent_changed:+.2f} %".replace("-", "−") if percent_changed else "0.00 %"
    return f"{ratio:.3g} times"


def percent(fraction: float | None) -> str:
    """Return a fraction as a percentage with three digits, ``unknown`` when there is none."""
    if fraction is None:
        return "unknown"
    return f"{100 * fraction:.3g} %" if fraction <= 10 else "more than 1000 %"


def interval(estimate: Estimate) -> str:
    """Return ``+2.31 % (95 % interval +1.90 % to +2.72 %)``."""
    if estimate.low is None or estimate.high is None:
        return f"{change(estimate.point)} (one round, no interval)"
    return (
        f"{change(estimate.point)} ({100 * estimate.level:g} % interval {change(estimate.low, estimate.point)} to "
        f"{change(estimate.high, estimate.point)})"
    )


def decision_evidence(
    decision: Decision, ratio: Estimate | None, facts: CellFacts, miss_rate: float, limit: str
) -> list[str]:
    """Return what a rule's decision rests on, most important first; ``limit``: what kept it from deciding."""
    limits = facts.thresholds
    if ratio is None:
        return ["no round of this cell can be used", limit]
    over = f"over {ratio.count} round{'s' if ratio.count != 1 else ''}"
    measured = f"head / base is {interval(ratio)} {over}"
    if decision.verdict is Verdict.SLOWER:
        within = (
            f"a slowdown of up to {percent(limits.slower_above)}, what was accepted and the margin,"
            if limits.accepted
            else f"a change within the margin of {percent(limits.margin)}"
        )
        return [
            measured,
            f"{within} is ruled out: suspected after "
            f"{decision.suspected_at} rounds, confirmed by fresh ones up to round {decision.decided_at}, "
            f"p = {decision.p_value:.2g} by the coin alone",
        ]
    if decision.verdict is Verdict.FASTER:
        return [measured, f"a change within the margin of {percent(limits.margin)} is ruled out"]
    if decision.verdict is Verdict.ACCEPTED:
        return [
            measured,
            f"a slowdown of {percent(limits.slower_from)} or more, what was accepted and the min effect, is ruled out, "
            f"wrong at most {percent(miss_rate)} of the time",
        ]
    if decision.verdict is Verdict.UNCHANGED:
        sentences = [
            measured,
            f"a slowdown of {percent(limits.min_effect)} or more is ruled out, wrong at most "
            f"{percent(miss_rate)} of the time",
        ]
        if ratio.high is not None and ratio.high < 1 / (1 + limits.margin):
            sentences.append("it is probably faster, but not surely enough to say so")
        return sentences
    seen = (
        f"a run with this noise calls a slowdown of {percent(decision.mde)} {percent(1 - miss_rate)} of the time "
        f"(MDE); wanted {percent(limits.slower_from)}"
    )
    if decision.suspected_at is None:
        return [measured, seen, limit]
    suspected = f"it looked slower after {decision.suspected_at} rounds; the rounds since then have not confirmed that"
    return [measured, suspected, seen, limit]


def label_evidence(labels: Sequence[Label], facts: CellFacts) -> list[str]:
    """Return a sentence for each label."""
    head, base = facts.head, facts.base
    if base is None:
        return []
    sentences = {
        Label.CLOCK: (
            f"the clock makes the difference, {_ghz(head)} in head and {_ghz(base)} in base: in cycles no such change "
            f"beyond the margin of {percent(facts.thresholds.margin)} is left (clock)"
        ),
        Label.LAUNCHES_CHANGED: (
            f"one call launches {head.launches} kernels in head, {base.launches} in base (launches_changed)"
        ),
        Label.CONFIG_CHANGED: (
            "what JIT compilers and autotuners left in their caches differs between the sides in every round "
            "(config_changed)"
        ),
    }
    return [sentences[label] for label in labels]


def _ghz(side: SideFacts) -> str:
    return "unknown" if side.state.sm_clock_hz is None else f"{side.state.sm_clock_hz / 1e9:.3f} GHz"


def acceptance_evidence(
    verdict: Verdict, ratio: Estimate | None, held: Sequence[Acceptance], lapsed: Sequence[Acceptance]
) -> list[str]:
    """Return what the acceptances of a cell had to do with its verdict; nothing where it is no slower."""
    if verdict not in (Verdict.SLOWER, Verdict.ACCEPTED, Verdict.UNDECIDED) or ratio is None:
        return []
    slower = f"slower by {percent(ratio.point - 1)}, " if ratio.point > 1 else ""
    accepted = "more than was accepted:" if verdict is Verdict.SLOWER else "accepted"
    return [
        *(f"{slower}{accepted} {terms(entry)}" for entry in held),
        *(f"no longer accepted: the acceptance of {terms(entry)} has expired" for entry in lapsed),
    ]


def side_evidence(facts: CellFacts, null_ratio: Estimate | None, exceeded: list[str]) -> list[str]:
    """Return what a reader must know of how the cell was measured, whatever the verdict."""
    sentences = [f"{text}; its score is left out" for text in exceeded]
    dropped = [fact for fact in facts.rounds if fact.dropped is not None]
    if dropped:
        causes = list(dict.fromkeys(fact.dropped for fact in dropped if fact.dropped))
        sentences.append(f"{len(dropped)} of {len(facts.rounds)} rounds not used: {'; '.join(causes[:2])}")
    sides = [("head", facts.head)] + ([("base", facts.base)] if facts.base is not None else [])
    for name, side in sides:
        sentences += _one_side(name, side)
    drift = _null_drift(facts, null_ratio)
    if drift is not None and drift > facts.thresholds.margin:
        sentences.append(
            f"a kernel that does nothing differs between the sides by {percent(drift)} of this cell's time, "
            f"more than the margin: {_consequence(facts)}"
        )
    return sentences


def _consequence(facts: CellFacts) -> str:
    raw = [fact.raw_log_ratio for fact in facts.rounds if fact.log_ratio is not None]
    corrected = [fact.log_ratio for fact in facts.rounds if fact.log_ratio is not None]
    if raw == corrected:
        return "the launch path, not the kernel, may be what changed"
    uncorrected = math.exp(sum(ratio for ratio in raw if ratio is not None) / len(raw))
    return f"that is corrected for, once a launch, and is {change(uncorrected)} without"


def _null_drift(facts: CellFacts, null_ratio: Estimate | None) -> float | None:
    """Return the do-nothing kernel's difference as a share of the cell's own time: it adds to it, once a launch."""
    base = facts.base
    if null_ratio is None or base is None or base.time is None or base.null_s is None or facts.unit != "seconds":
        return None
    return abs(null_ratio.point - 1) * base.null_s / base.time.point


def _one_side(name: str, side: SideFacts) -> list[str]:
    sentences = []
    if side.fallback:
        sentences.append(f"{name}: timed by {', '.join(side.timers) or 'another timer'}, {side.fallback}")
    if len(side.caches) > 1:
        sentences.append(f"{name}: compiled or tuned in {len(side.caches)} different ways from round to round")
    if side.state.other_processes:
        processes = ", ".join(str(process) for process in side.state.other_processes)
        sentences.append(f"{name}: other processes were on the device: {processes}")
    return sentences
