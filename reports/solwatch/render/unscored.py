"""Why a measured cell has no SOL score, in words."""

from collections.abc import Sequence

from solwatch.judge.judgement import CellFacts, Judgement
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.model.plain import plain
from solwatch.model.verdict import CellVerdict, Verdict

MOST_NAMED = 3


def unscored_lines(judgement: Judgement) -> list[str]:
    """Return a line for each reason, with the cells it holds for; none where no cell says what work it does."""
    facts = judgement.facts
    if all(cell.work is None for cell in facts.values()):
        return []
    cells: dict[str, list[str]] = {}
    for verdict in judgement.verdicts:
        reason = _reason(verdict, facts[verdict.key])
        if reason is not None:
            cells.setdefault(reason, []).append(plain(verdict.key))
    return [f"no SOL score for {_named(keys)}: {reason}" for reason, keys in cells.items()]


def _reason(verdict: CellVerdict, facts: CellFacts) -> str | None:
    # A void cell's figures are left out together, for the reason that stands with its verdict.
    if facts.head.time is None or verdict.verdict is Verdict.VOID or verdict.key == NULL_KERNEL:
        return None
    if facts.work is None:
        return "the suite does not say what work it does"
    if facts.head.score is None:
        return f"no ceiling is known here for {plain(facts.work.dtype)}; 'solwatch ceilings' shows those there are"
    if facts.head.score.sol_score is None:
        return "faster than the measured ceiling (ceiling_exceeded); 'solwatch ceilings' measures it again"
    return None


def _named(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - MOST_NAMED} more" if len(keys) > MOST_NAMED else ""
    return ", ".join(keys[:MOST_NAMED]) + more
