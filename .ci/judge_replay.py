"""Replays recorded rounds of one build against itself through the rule: how often it cries wolf, what it catches.

All figures are conditional on the corpus: on those cards, those days, those cells. ``replays/`` says how runs are made.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from replays.bootstrap import bootstrap
from replays.drawing import replay
from replays.live_gates import live_gates, live_line
from replays.made_from import made_from
from replays.recorded import stretches
from replays.showing import document_of
from replays.walk import walked
from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config
from solwatch.model.errors import RequestError, SolwatchError
from solwatch.workspace.files import write_atomically

CORPUS = Path(__file__).resolve().parent.parent / "reports" / "tests" / "corpus"


def asked_for() -> argparse.Namespace:
    """Return the command line's arguments; raises ``RequestError`` for numbers that make no sense."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=sorted(CORPUS.glob("*.jsonl")), metavar="FILE")
    parser.add_argument("--runs", type=int, default=20_000, help="runs without a slowdown (20000)")
    parser.add_argument("--planted-runs", type=int, default=2_000, help="runs for each size (2000)")
    parser.add_argument("--resamples", type=int, default=100, help="of clusters, for the bootstrap interval (100)")
    parser.add_argument("--sizes", type=float, nargs="*", default=[0.005, 0.01, 0.02], help="planted (0.005 0.01 0.02)")
    parser.add_argument("--min-effect", type=float, help="as of solwatch gate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--live-gates", type=Path, default=CORPUS / "live-gates.json", help="live_gate.py fills it")
    parser.add_argument("--output", type=Path, help="also write the figures as JSON")
    asked = parser.parse_args()
    if min(asked.runs, asked.planted_runs, asked.resamples) < 1:
        raise RequestError("--runs, --planted-runs and --resamples must be 1 or more")
    if not all(0 <= size < 1 for size in asked.sizes):
        raise RequestError(f"--sizes {' '.join(map(str, asked.sizes))}: they are fractions, 0.01 is 1 %")
    return asked


def main() -> int:
    """Replay, show and write; returns the exit code."""
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200)
    started_s = time.monotonic()
    try:
        asked = asked_for()
        config = Config(min_effect=asked.min_effect)
        rule, recorded = TwoStage.from_config(config), stretches(asked.files, config)
        seed = str(asked.seed)
        document = document_of(
            recorded,
            replay(recorded, rule, runs=asked.runs, planted=0.0, seed=seed),
            bootstrap(
                recorded, rule, resamples=asked.resamples, runs=max(1, asked.runs // asked.resamples), seed=asked.seed
            ),
            walked(recorded, rule),
            {size: replay(recorded, rule, runs=asked.planted_runs, planted=size, seed=seed) for size in asked.sizes},
        )
        live = live_line(live_gates(asked.live_gates))
        if asked.output:
            document = {"made_from": made_from(asked.files, config), **document}
            write_atomically(asked.output, json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n")
    except SolwatchError as error:
        print(f"replay: {error}", file=sys.stderr)
        return int(error.exit_code)
    console.print(rule.text)
    for name, value in document["noise"]:
        console.print(f"{name}: {value}")
    console.print(f"live A/A gates: {live}")
    if document["sizes"]:
        console.print(detection_table(document))
    console.print(f"({time.monotonic() - started_s:.0f} s)")
    return 0


def detection_table(document: dict[str, list[list[str]]]) -> Table:
    """Return the table of what was caught."""
    table = Table(box=None, header_style="bold")
    for name in ("cell", "time", "min effect", *(f"{size}: slower, unchanged" for size in document["sizes"])):
        table.add_column(name, justify="left" if name == "cell" else "right", no_wrap=True)
    for row in document["detection"]:
        table.add_row(*row)
    table.add_row("rounds of a run", "", "", *map(str, document["rounds"]))
    return table


if __name__ == "__main__":
    sys.exit(main())
