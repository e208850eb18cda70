"""``asv publish``, run for the project in a folder."""

import os
import subprocess
import sys
from pathlib import Path

from asv.config import Config
from asv.util import UserError

from solwatch.model.errors import MachineError, RequestError
from solwatch.model.plain import plain


def html_folder(root: Path) -> Path:
    """Return the folder that asv publishes into; raises ``RequestError`` without an asv.conf.json that says so."""
    path = root / "asv.conf.json"
    if not path.is_file():
        raise RequestError(f"{root} has no asv.conf.json: the site is of an asv suite, run this in its repository")
    try:
        return root / str(Config.load(str(path)).html_dir)
    except (UserError, ValueError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise RequestError(f"{path} can't be read by asv ({plain(str(error), 200)})") from error


def publish(root: Path) -> None:
    """Run ``asv publish``, its progress on stderr; raises ``MachineError`` when it fails."""
    ended = subprocess.run(
        [sys.executable, "-m", "asv", "publish", "--no-pull"],
        cwd=root, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(), check=False, env=dict(os.environ),
    )  # fmt: skip
    if ended.returncode:
        raise MachineError(f"asv publish failed with exit code {ended.returncode}: what it says stands above")
