"""A process that makes one call of one cell between the marks of a profiler: ``python -m`` with a JSON object.

The object: ``path`` (goes in front of sys.path), ``benchmarks_dir``, ``device``, ``key``, ``seed``.
"""

import json
import sys

from solwatch.asvio.discovery import discover
from solwatch.device.profiled import call_between_marks


def main() -> None:
    """Make the cell's inputs, call it a few times, then once more while the profiler counts."""
    asked = json.loads(sys.argv[1])
    sys.path[:0] = asked["path"]
    cell = discover(asked["benchmarks_dir"]).suite_cell(asked["key"])
    call_between_marks(cell, asked["device"], seed=asked["seed"])


if __name__ == "__main__":
    main()
