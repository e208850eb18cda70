"""A scratch repository: made anew, committed to, thrown away."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from solwatch.model.errors import MachineError, RequestError
from solwatch.workspace.files import disk_errors
from solwatch.workspace.git import Repository, quiet_environment

_SETTINGS = {
    "user.name": "solwatch",
    "user.email": "solwatch@scratch.invalid",
    "commit.gpgsign": "false",
    "core.hooksPath": "/dev/null",
    "core.autocrlf": "false",
}
"""Nothing of the user's own settings may stop a commit or change a file."""


class Scratch:
    """A repository of solwatch's own at ``root``."""

    def __init__(self, root: Path) -> None:
        """Make an empty repository; raises ``RequestError`` without git and ``MachineError`` when it can't be made."""
        self.root = root
        with disk_errors(root):
            root.mkdir(parents=True, exist_ok=True)
        self._git("init", "--quiet", "--template=")

    def commit(self, files: Mapping[str, str], subject: str) -> str:
        """Write ``files`` (path to text) on top of what there is, commit everything and return the commit's name."""
        for name, text in files.items():
            path = self.root / name
            with disk_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        self._git("add", "--all", "--force", "--", *files)
        self._git("commit", "--quiet", "--message", subject)
        return self._git("rev-parse", "HEAD")

    def opened(self) -> Repository:
        """Return it as the repository that it is."""
        return Repository.open(self.root)

    def _git(self, *arguments: str) -> str:
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        command = ["git", "-C", str(self.root), *settings, *arguments]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", env=quiet_environment(), check=False
            )
        except FileNotFoundError as error:
            raise RequestError("git is not installed or not on PATH: install git") from error
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise MachineError(f"git {arguments[0]} failed in {self.root}: {last}")
        return done.stdout.strip()
