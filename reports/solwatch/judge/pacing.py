"""Whether another round is worth taking, and of which cells."""

import math
from collections.abc import Sequence

import msgspec

from solwatch.judge.judgement import Judgement
from solwatch.judge.judging import judge
from solwatch.judge.launch_path import CORRECTED_TIMER, NULL_KERNEL
from solwatch.judge.rule import Rule
from solwatch.model.record import Record, Round

CARRIERS = 4


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """What to do next.

    ``open_keys``: cells that need another round, in the record's order; empty when measuring is over.
    ``stop``: why it is over (``decided``, ``rounds``, ``budget``), the word for ``RecordEnd.stopped``; ``None``
    while it goes on.
    """

    open_keys: list[str]
    stop: str | None


def pace(record: Record, *, elapsed_s: float, rule: Rule | None = None) -> Pace:
    """Return whether another round follows the record's rounds, ``elapsed_s`` seconds after measuring began.

    A round is started only when it will probably end within ``config.budget_s``; the first is always taken, so
    that a budget too small still measures something. The budget looks at the clock, never at the times, so that
    stopping by it can't favour a verdict.
    """
    judgement = judge(record, rule)
    final = set(judgement.final)
    keys = [cell.key for cell in record.header.cells]
    open_keys = [key for key in keys if key not in final]
    if NULL_KERNEL in judgement.suspects:
        open_keys = _with_carriers(open_keys, judgement)
    expected_s = _next_round_s(record.rounds, len(open_keys))
    stop = None
    if not open_keys:
        stop = "rounds" if judgement.coverage.undecided else "decided"
    elif record.rounds and elapsed_s + (expected_s or 0.0) > record.header.config.budget_s:
        stop = "budget"
    return Pace(open_keys=[] if stop else open_keys, stop=stop)


def _with_carriers(open_keys: list[str], judgement: Judgement) -> list[str]:
    """Return ``open_keys``, with some short cells when none of those has the null kernel timed in turn with it."""
    timed = [
        (facts.head.time.point, key)
        for key, facts in judgement.facts.items()
        if key != NULL_KERNEL and facts.head.time is not None and CORRECTED_TIMER in facts.head.timers
        if (facts.thresholds.most_rounds or math.inf) > judgement.completed
    ]
    if {key for _, key in timed} & set(open_keys):
        return open_keys
    wanted = {*open_keys, *(key for _, key in sorted(timed)[:CARRIERS])}
    return [key for key in judgement.facts if key in wanted]


def _next_round_s(rounds: Sequence[Round], cells: int) -> float | None:
    if not rounds:
        return None
    last = rounds[-1]
    # A round is two process starts plus its cells. Scaling the whole by the cells would promise too little, so
    # only half of it is scaled.
    share = min(1.0, cells / max(1, len(last.cells)))
    return last.wall_s * (0.5 + 0.5 * share)
