"""Judges recorded rounds by the rules that people gate with today, and by solwatch."""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import track

from judges.action_ratio import ActionRatio
from judges.asv_factor import AsvFactor
from judges.judge import Judge
from judges.mann_whitney import MannWhitney
from judges.nvbench import NvbenchNoise
from judges.pytest_mean import PytestMean
from judges.recording import recordings
from judges.rustc_perf import RustcPerf
from judges.scores import scores
from judges.showing import NOTES, document_of, heading, summary_of, table_of
from judges.solwatch_gate import SolwatchGate
from replays.made_from import made_from
from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config
from solwatch.model.errors import RequestError, SolwatchError
from solwatch.workspace.files import write_atomically

ROOT = Path(__file__).resolve().parents[2]


def judges_of(gate: TwoStage) -> list[Judge]:
    """Return the rules in the table's order."""
    return [
        AsvFactor(1.1),
        AsvFactor(1.01),
        AsvFactor(1.01, processes=8),
        NvbenchNoise(),
        PytestMean(),
        ActionRatio(2.0),
        ActionRatio(1.05),
        RustcPerf(),
        MannWhitney(0.05),
        MannWhitney(0.001),
        SolwatchGate(gate),
    ]


def progress(runs: Iterable[int]) -> Iterable[int]:
    """Show a bar on a terminal's standard error."""
    return track(runs, "judging", console=Console(stderr=True), disable=not sys.stderr.isatty())


def main() -> int:
    """Judge, show and write; returns the exit code."""
    parser = argparse.ArgumentParser(prog="judges", description=(__doc__ or "").splitlines()[0])
    corpus = sorted((ROOT / "reports" / "tests" / "corpus").glob("*.jsonl"))
    parser.add_argument("files", nargs="*", type=Path, default=corpus, metavar="FILE", help="A/A corpus files")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "judges.json")
    parser.add_argument("--summary", type=Path, help="also write the figures of the table as JSON")
    asked = parser.parse_args()
    try:
        if asked.runs < 1 or asked.seed < 0:
            raise RequestError(f"--runs {asked.runs} --seed {asked.seed}: at least 1 run and a seed of 0 or more")
        recorded = recordings(asked.files)
        gate = TwoStage.from_config(Config())
        console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200)
        found = scores(
            judges_of(gate),
            recorded,
            runs=asked.runs,
            rounds=gate.most_rounds,
            seed=asked.seed,
            track=progress,
        )
        console.print(heading(recorded, asked.runs, asked.seed))
        console.print(table_of(found))
        for note in NOTES:
            console.print(note)
        document = document_of(found, recorded, asked.runs, asked.seed)
        write_atomically(asked.output, json.dumps(document, indent=1).encode() + b"\n")
        if asked.summary:
            summary = {"made_from": made_from(asked.files, Config()), **summary_of(document)}
            write_atomically(asked.summary, json.dumps(summary, indent=1).encode() + b"\n")
    except SolwatchError as error:
        print(f"judges: {error}", file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
