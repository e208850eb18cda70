"""Which limit kept a cell undecided, and how it is raised."""

from solwatch.judge.rule import Decision
from solwatch.judge.thresholds import Thresholds
from solwatch.model.record import Record
from solwatch.model.verdict import Reason

_BY_STOP = {"budget": Reason.BUDGET, "rounds": Reason.ROUNDS}


def limit_reason(decision: Decision, record: Record, thresholds: Thresholds) -> Reason:
    """Return why a cell is undecided: what the rule says when it is through with it, else what ended the run."""
    taken = len(record.rounds)
    if decision.reason is Reason.BUDGET:
        return decision.reason
    if decision.reason is Reason.UNCONFIRMED:
        through = decision.final or taken >= thresholds.most_rounds
    else:
        through = decision.final and taken >= thresholds.looks[-1]
    if through:
        return decision.reason
    return _BY_STOP.get(record.end.stopped if record.end else "", Reason.INTERRUPTED)


def limit_evidence(reason: Reason, record: Record, thresholds: Thresholds, own_limit: int | None) -> str:
    """Return the sentence on a limit: its value, where it ended the run, what raises it.

    ``own_limit``: rounds that the cell may take, where that is what ended it.
    """
    if own_limit is not None:
        return (
            f"its own limit of {own_limit} rounds is too low to decide: raise most_rounds for this cell in "
            "[[tool.solwatch.cells]]"
        )
    taken = f"after {len(record.rounds)} of at most {thresholds.most_rounds} rounds"
    if reason is Reason.BUDGET:
        budget_s = record.header.config.budget_s
        return f"the budget of {budget_s:g} s ended measuring {taken}: raise budget_s (--budget) or measure fewer cells"
    if reason is Reason.ROUNDS:
        return f"the number of rounds asked for ended measuring {taken}: raise --rounds or leave it out"
    if reason is Reason.INTERRUPTED:
        return f"measuring was interrupted {taken}: measure again"
    if reason is Reason.UNCONFIRMED:
        return "fresh rounds did not confirm that it is slower: measure again, or quieten the machine"
    if reason is Reason.TWO_MODES:
        return (
            "its rounds fall into two heaps: the kernel, or where its buffers lie, has two modes; find the cause, or "
            "raise min_effect for this cell"
        )
    return (
        f"all {thresholds.looks[-1]} rounds were taken: quieten the machine, raise rounds in [tool.solwatch], "
        "or raise min_effect for this cell"
    )
