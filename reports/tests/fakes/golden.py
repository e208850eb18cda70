"""Golden files: what a format looked like when someone last read it through.

``UPDATE_GOLDEN=1 pytest reports/tests/render`` writes them anew; git shows what has changed, to be read.
"""

import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "render/golden"


def assert_golden(name: str, found: str) -> None:
    """Fail unless ``found`` is what the file ``name`` holds."""
    path = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8"), f"{name} has changed; if that is meant: {__doc__}"
