"""Makes docs/example-report from the record of a gate: python .ci/example_report.py RECORD [--forget TEXT].

``--forget`` leaves a text out of the record wherever it stands (the folder of that machine's environments, its name),
as often as it is given; nothing else of what was measured is touched.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "docs/example-report"
KEPT = ("index.html", "report.json", "roofline.png", "forest.png")
SLOWER = 1
"""Exit code of a report whose cells are slower: an example is there to show that."""


def main() -> int:
    """Return the exit code: 0 when the sample is written."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("record", type=Path)
    asked.add_argument("--forget", action="append", default=[], metavar="TEXT")
    arguments = asked.parse_args()
    content = arguments.record.read_bytes()
    for text in arguments.forget:
        content = content.replace(text.encode(), b"")
    with tempfile.TemporaryDirectory() as folder:
        # The name stands in the page, in the command that judges the rounds again.
        record = Path(folder) / arguments.record.name
        record.write_bytes(content)
        command = [str(Path(sys.executable).with_name("solwatch")), "report", str(record), "--output", folder, "--png"]
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if ended.returncode != SLOWER:
            print(f"the report ended with {ended.returncode}, wanted {SLOWER}: choose a gate with a slowdown")
            return 3
        if not json.loads((Path(folder) / "report.json").read_bytes())["judgement"]["reasons"]:
            print("the record holds no reason for the slowdown: choose a gate that looked into both builds")
            return 3
        SAMPLE.mkdir(exist_ok=True)
        for name in KEPT:
            (SAMPLE / name).write_bytes((Path(folder) / name).read_bytes())
    print(f"written: {', '.join(KEPT)} in {SAMPLE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
