"""A folder of compiled files, each named by the hash of everything that made it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

# A build for the CPU takes 0.25 MiB, one for CUDA 3 MiB for each architecture.
LIMIT_BYTES = 256 << 20
# The folder may be one that holds other things too: what is removed is named by a hash, or half written under one.
_OURS = re.compile(r"[0-9a-f]{64}|\.[0-9a-f]{64}\..+")


def hash_sources(paths: Iterable[Path], root: Path) -> str:
    """Hash names (relative to ``root``) and contents, in sorted order."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def hash_command(parts: Iterable[str]) -> str:
    """Hash a list of strings, each ended, so that no two lists collide by joining."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


class BuildCache:
    """Copies files in and out by key; a reader sees a whole file or none.

    Above ``limit_bytes`` the files that were not used for longest are removed.
    """

    def __init__(self, folder: Path | None, limit_bytes: int = LIMIT_BYTES) -> None:
        """Use ``folder``; None makes a cache that holds nothing."""
        self._folder = folder
        self._limit_bytes = limit_bytes

    def fetch(self, key: str, target: Path) -> bool:
        """Copy the file kept under ``key`` to ``target``; False when there is none."""
        if self._folder is None:
            return False
        try:
            _copy_whole(self._folder / key, target)
        except FileNotFoundError:
            return False
        with contextlib.suppress(OSError):  # pruned by another build since, or a cache that is read only
            os.utime(self._folder / key)
        return True

    def keep(self, key: str, source: Path) -> None:
        """Keep a copy of ``source`` under ``key``."""
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        _copy_whole(source, self._folder / key)
        _prune(self._folder, self._limit_bytes)


def _prune(folder: Path, limit_bytes: int) -> None:
    """Remove the files used longest ago until the rest fit; other builds may do the same at once."""
    found = []
    for path in [path for path in folder.iterdir() if _OURS.fullmatch(path.name)]:
        with contextlib.suppress(FileNotFoundError):
            found.append((path.stat(), path))
    total_bytes = 0
    for stat, path in sorted(found, key=lambda pair: pair[0].st_mtime_ns, reverse=True):
        total_bytes += stat.st_size
        if total_bytes > limit_bytes:
            path.unlink(missing_ok=True)


def _copy_whole(source: Path, target: Path) -> None:
    """Copy under a temporary name, then rename: concurrent builds can't see half a file."""
    with source.open("rb") as stream:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as copy:
                shutil.copyfileobj(stream, copy)
                copy.flush()
                os.fsync(copy.fileno())
            Path(name).chmod(0o755 if target.suffix == ".so" else 0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
