"""Adds gates of one build against itself that really ran to the list beside the corpus, from their report.json."""

import argparse
import sys
from pathlib import Path

from replays.live_gates import append, gate_of, live_gates, live_line
from solwatch.model.errors import SolwatchError

LIST = Path(__file__).resolve().parent.parent / "reports" / "tests" / "corpus" / "live-gates.json"


def main() -> int:
    """Read, add and say how many there are now; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("reports", nargs="+", type=Path, metavar="REPORT.JSON", help="of A/A gates; known ones stay")
    parser.add_argument("--list", type=Path, default=LIST)
    asked = parser.parse_args()
    try:
        added = append(asked.list, [gate_of(path) for path in asked.reports])
        print(f"{added} of {len(asked.reports)} added; live A/A gates: {live_line(live_gates(asked.list))}")
    except SolwatchError as error:
        print(f"live gate: {error}", file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
