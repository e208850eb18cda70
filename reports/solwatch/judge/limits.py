"""Which limit kept a cell undecided, and how it is raised."""

from solwatch.judge.thresholds import Thresholds
from solwatch.model.record import Record
from solwatch.model.verdict import Reason

_BY_STOP = {"budget": Reason.BUDGET, "rounds": Reason.ROUNDS}


def limit_reason(record: Record, thresholds: Thresholds) -> Reason:
    """Return why a cell is undecided: noise after the last look, else what ended the run before it."""
    if len(record.rounds) >= thresholds.looks[-1]:
        return Reason.NOISE
    return _BY_STOP.get(record.end.stopped if record.end else "", Reason.INTERRUPTED)


def limit_evidence(reason: Reason, record: Record, thresholds: Thresholds) -> str:
    """Return the sentence on a limit: its value, where it ended the run, what raises it."""
    taken = f"after {len(record.rounds)} of {thresholds.looks[-1]} rounds"
    if reason is Reason.BUDGET:
        budget_s = record.header.config.budget_s
        return f"the budget of {budget_s:g} s ended measuring {taken}: raise budget_s (--budget) or measure fewer cells"
    if reason is Reason.ROUNDS:
        return f"the number of rounds asked for ended measuring {taken}: raise --rounds or leave it out"
    if reason is Reason.INTERRUPTED:
        return f"measuring was interrupted {taken}: measure again"
    return (
        f"all {thresholds.looks[-1]} rounds were taken: quieten the machine, raise rounds in [tool.solwatch], "
        "or raise min_effect for this cell"
    )
