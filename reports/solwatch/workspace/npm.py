"""Single files out of packages of the npm registry, by npm itself, believed by their digest alone."""

import contextlib
import hashlib
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

from solwatch.model.errors import MachineError, SolwatchError
from solwatch.workspace.files import read_whole, write_atomically

LIMIT_S = 120.0
"""Wall time for one package."""

MOST_BYTES = 8 << 20
"""No file of a library is as large."""


class Packages:
    """Files of packages, each kept in ``cache`` once it was had; npm runs once for a package."""

    def __init__(self, cache: Path) -> None:
        """Keep files in ``cache``."""
        self._cache = cache
        self._failed: dict[str, str] = {}

    def file(self, package: str, path: str, sha256: str) -> bytes:
        """Return the file ``path`` of ``package`` (``name@version``).

        Raises ``MachineError`` when npm or the package can't be had, or the file has another digest.
        """
        kept = self._cache / sha256
        with contextlib.suppress(SolwatchError):
            content = read_whole(kept)
            if hashlib.sha256(content).hexdigest() == sha256:
                return content
        content = self._packed(package, path)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise MachineError(f"{package}: its {path} is not the one that was tried, its digest differs")
        with contextlib.suppress(SolwatchError):
            write_atomically(kept, content)
        return content

    def _packed(self, package: str, path: str) -> bytes:
        if package in self._failed:
            raise MachineError(self._failed[package])
        with tempfile.TemporaryDirectory(prefix="solwatch-npm-") as scratch:
            try:
                return _member(_pack(package, Path(scratch)), package, path)
            except MachineError as error:
                self._failed[package] = str(error)
                raise


def _pack(package: str, folder: Path) -> Path:
    command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder), package]
    try:
        ended = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=False,
            env=os.environ | {"npm_config_update_notifier": "false", "npm_config_fetch_retries": "0"},
        )  # fmt: skip
    except FileNotFoundError as error:
        raise MachineError(f"{package}: npm is not installed (it comes with Node.js)") from error
    except subprocess.TimeoutExpired as error:
        raise MachineError(f"{package}: npm took more than {LIMIT_S:.0f} s") from error
    except OSError as error:
        raise MachineError(f"{package}: npm can't be run ({error.strerror})") from error
    found = sorted(folder.glob("*.tgz"))
    if ended.returncode or not found:
        raise MachineError(f"{package}: npm could not get it")
    return found[0]


def _member(archive: Path, package: str, path: str) -> bytes:
    try:
        with tarfile.open(archive) as packed:
            member = packed.extractfile(f"package/{path}")
            if member is None:
                raise KeyError(path)
            return member.read(MOST_BYTES)
    except (KeyError, tarfile.TarError, OSError, EOFError) as error:
        raise MachineError(f"{package}: it has no {path}") from error
