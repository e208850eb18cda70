"""Replays recorded rounds through the rule: how often it cries wolf, and what it catches.

A run is a gate of two groups of the corpus's cells. In each group whole rounds are drawn with replacement, so that what
a pair of processes does to all cells stays together, and for each round the coin is tossed anew; a slowdown is planted
by adding it to every log ratio. All figures are conditional on this corpus: on that card, those days, those cells.
"""

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from solwatch.app.condensing import replayed
from solwatch.judge.launch_path import NULL_KERNEL, null_info
from solwatch.judge.rule import ComparedCell, Decision, Replicate
from solwatch.judge.series import rounds_by_cell, series
from solwatch.judge.thresholds import cell_thresholds
from solwatch.judge.two_stage import CONFIRM_ROUNDS, TwoStage
from solwatch.model.config import Config
from solwatch.model.errors import RequestError, SolwatchError
from solwatch.model.verdict import Verdict

GROUPS = 2
LEAST_ROUNDS = 20


@dataclass(frozen=True)
class Recorded:
    """The rounds of one cell: log(slot 0 / slot 1) of each, and what the cell is held to."""

    by_slot: list[float]
    base_s: float
    min_effect: float
    margin: float


@dataclass
class Tally:
    """What came of ``runs`` runs with one size planted. ``verdicts``: of each cell, over runs and groups."""

    runs: int
    suspects: int
    suspect_runs: int
    alarm_runs: int
    rounds: list[int]
    verdicts: dict[str, list[Verdict]]

    @property
    def suspects_upper(self) -> float:
        """Upper 95 % bound of the suspects of a run: of the share of runs that have any, times how many those have."""
        each = self.suspects / self.suspect_runs if self.suspect_runs else 1.0
        return each * upper_share(self.suspect_runs, self.runs)


def upper_share(found: int, runs: int) -> float:
    """Return the upper 95 % bound (Clopper and Pearson) of a share of which ``found`` of ``runs`` were seen."""
    import scipy.special

    return 1.0 if found >= runs else float(scipy.special.betaincinv(found + 1, runs - found, 0.95))


def recorded_cells(path: Path, config: Config) -> dict[str, Recorded]:
    """Return the cells of a corpus that have every round, the null kernel among them.

    Raises ``RequestError`` when there are too few rounds to draw from.
    """
    record = replayed(path)
    if len(record.rounds) < LEAST_ROUNDS:
        raise RequestError(f"{path} has {len(record.rounds)} rounds, wanted {LEAST_ROUNDS} to draw from: record more")
    infos = {cell.key: cell for cell in record.header.cells if cell.gated}
    found = {}
    for key, rounds in rounds_by_cell(record).items():
        facts = series(rounds)
        by_slot = [
            fact.log_ratio if fact.head_slot == 0 else -fact.log_ratio for fact in facts if fact.log_ratio is not None
        ]
        if (key != NULL_KERNEL and key not in infos) or len(by_slot) < len(record.rounds):
            continue
        base_s = statistics.fmean(fact.base_s for fact in facts if fact.base_s is not None)
        info = infos.get(key) or null_info()
        limits = cell_thresholds(config, info, device=record.header.fingerprint.device, base_s=base_s)
        found[key] = Recorded(by_slot, base_s, limits.min_effect, limits.margin)
    if not set(found) - {NULL_KERNEL}:
        raise RequestError(f"{path} has no gated cell with all of its rounds: record it again")
    return found


def drawn(cells: Mapping[str, Recorded], rounds: int, planted: float, dice: random.Random) -> Iterator[ComparedCell]:
    """Yield the cells of one run: the null kernel goes with the first group, and nothing is planted in it."""
    for group in range(GROUPS):
        count = len(next(iter(cells.values())).by_slot)
        draws = [(dice.randrange(count), dice.choice((1, -1))) for _ in range(rounds)]
        for key, cell in cells.items():
            if key == NULL_KERNEL and group > 0:
                continue
            shift = 0.0 if key == NULL_KERNEL else math.log1p(planted)
            yield ComparedCell(
                key=key if key == NULL_KERNEL else f"{key}#{group}",
                replicates=[
                    Replicate(ordinal, 0, sign * cell.by_slot[index] + shift)
                    for ordinal, (index, sign) in enumerate(draws, start=1)
                ],
                min_effect=cell.min_effect,
                margin=cell.margin,
            )


def replay(cells: Mapping[str, Recorded], rule: TwoStage, *, runs: int, planted: float, seed: int) -> Tally:
    """Judge ``runs`` runs. The rule stops by itself: rounds after a cell's verdict don't count for it."""
    tally = Tally(runs, 0, 0, 0, [], {})
    for run in range(runs):
        dice = random.Random(f"{seed} {planted} {run}")
        compared = list(drawn(cells, rule.most_rounds, planted, dice))
        decisions = rule.decide(compared, family=len(compared), completed=rule.most_rounds, ended=True)
        suspects = sum(decision.suspected_at is not None for decision in decisions.values())
        tally.suspects += suspects
        tally.suspect_runs += suspects > 0
        tally.alarm_runs += any(decision.verdict is Verdict.SLOWER for decision in decisions.values())
        tally.rounds.append(max(rounds_taken(decision, rule) for decision in decisions.values()))
        for key, decision in decisions.items():
            tally.verdicts.setdefault(key.split("#")[0], []).append(decision.verdict)
    return tally


def rounds_taken(decision: Decision, rule: TwoStage) -> int:
    """Return the rounds after which a cell was through; a suspect that was given up counts as if to the end."""
    if decision.decided_at is not None:
        return decision.decided_at
    return rule.looks[-1] if decision.suspected_at is None else decision.suspected_at + CONFIRM_ROUNDS


def share(verdicts: Sequence[Verdict], wanted: Verdict) -> str:
    """Return how many of ``verdicts`` are ``wanted``, in percent."""
    return f"{100 * sum(verdict is wanted for verdict in verdicts) / len(verdicts):.2f} %"


def detection_table(cells: Mapping[str, Recorded], tallies: Mapping[float, Tally]) -> Table:
    """Return a row for each cell: how often each size was called slower, and unchanged."""
    table = Table(box=None, header_style="bold")
    for name in ("cell", "time", "min effect", *(f"{100 * size:g} %: slower, unchanged" for size in tallies)):
        table.add_column(name, justify="left" if name == "cell" else "right", no_wrap=True)
    for key, cell in sorted(cells.items(), key=lambda item: item[1].base_s):
        if key != NULL_KERNEL:
            found = (tally.verdicts[key] for tally in tallies.values())
            table.add_row(
                key,
                f"{cell.base_s * 1e6:.1f} µs",
                f"{100 * cell.min_effect:.2f} %",
                *(f"{share(each, Verdict.SLOWER)}, {share(each, Verdict.UNCHANGED)}" for each in found),
            )
    return table


def headline(tally: Tally, cells: int, seconds: float) -> str:
    """Return what runs without a slowdown came to."""
    return (
        f"{tally.runs} runs of {cells} cells without a slowdown: {tally.alarm_runs} false alarms, "
        f"{100 * tally.alarm_runs / tally.runs:.3f} % of runs (95 % bound "
        f"{100 * upper_share(tally.alarm_runs, tally.runs):.3f} %)\n"
        f"suspects per run: {tally.suspects / tally.runs:.4f} (95 % bound {tally.suspects_upper:.4f})\n"
        f"rounds of a run: {statistics.fmean(tally.rounds):.1f} on average, {max(tally.rounds)} at most "
        f"({seconds:.0f} s)"
    )


def main() -> int:
    """Replay and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=20_000, help="runs without a slowdown (20000)")
    parser.add_argument("--planted-runs", type=int, default=2_000, help="runs for each size (2000)")
    parser.add_argument("--sizes", type=float, nargs="*", default=[0.005, 0.01, 0.02], help="planted (0.005 0.01 0.02)")
    parser.add_argument("--min-effect", type=float, help="as of solwatch gate")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.runs < 1 or asked.planted_runs < 1:
        parser.error("--runs and --planted-runs must be 1 or more")
    if not all(0 <= size < 1 for size in asked.sizes):
        parser.error("--sizes are fractions: 0.01 is 1 %")
    config = Config(min_effect=asked.min_effect)
    rule = TwoStage.from_config(config)
    try:
        cells = recorded_cells(asked.file, config)
    except SolwatchError as error:
        print(f"replay: {error}", file=sys.stderr)
        return int(error.exit_code)
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 160)
    console.print(f"conditional on {asked.file.name}; {rule.text}")
    started_s = time.monotonic()
    found = replay(cells, rule, runs=asked.runs, planted=0.0, seed=asked.seed)
    console.print(headline(found, GROUPS * len(set(cells) - {NULL_KERNEL}), time.monotonic() - started_s))
    tallies = {
        size: replay(cells, rule, runs=asked.planted_runs, planted=size, seed=asked.seed) for size in asked.sizes
    }
    for size, tally in tallies.items():
        console.print(
            f"{100 * size:g} % planted in all cells: {tally.suspects / tally.runs:.4f} suspects a run, a cell slower "
            f"in {tally.alarm_runs} of {tally.runs} runs, {statistics.fmean(tally.rounds):.1f} rounds on average"
        )
    if tallies:
        console.print(detection_table(cells, tallies))
    return 0


if __name__ == "__main__":
    sys.exit(main())
