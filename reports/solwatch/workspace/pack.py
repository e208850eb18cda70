"""Builds packed into a folder, for a machine that measures them and has no compiler.

A pack is ``builds.json`` (``PackManifest``) and one zip file for each build. Where it comes from is not trusted: what
is unpacked is checked, and lies apart from the builds of this machine's own cache, under the pack's own digest, so
that nobody who measures something else later can get it.
"""

import hashlib
import os
import re
import shutil
import stat
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated

import msgspec

from solwatch.model.errors import RequestError
from solwatch.model.plain import plain
from solwatch.model.record import Commit
from solwatch.workspace.builds import Build, Builder, cache_key
from solwatch.workspace.files import disk_errors, read_file, sync_folder, write_atomically
from solwatch.workspace.git import Repository
from solwatch.workspace.locks import FileLock
from solwatch.workspace.tree import content_key

PACK_SCHEMA = 1
MANIFEST = "builds.json"
MOST_BYTES = 2 << 30
"""Unpacked, of one build; kernels for ten architectures come to a tenth of it."""
MANIFEST_BYTES = 1 << 20
KEPT_PACKS = 5

_NAME = re.compile(r"[0-9a-f]{40}\.zip")
"""Of a packed build: its key."""

Key = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}$")]
Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


class PackManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a pack holds: ``builds`` maps a key to its zip file's SHA-256.

    ``command``, ``variant`` and ``facts`` are those of the machine that built: with a commit's sources they give its
    key, on any machine.
    """

    pack: int
    command: list[str]
    variant: dict[str, str]
    facts: dict[str, str]
    builds: dict[Key, Digest]


def write_pack(folder: Path, builder: Builder, builds: Iterable[Build]) -> None:
    """Write ``builds`` of ``builder`` as a pack into ``folder``; what is there of another one is written over.

    Each is packed before the next one is asked for.
    """
    digests: dict[str, str] = {}
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for build in builds:
            if build.key in digests:
                continue
            target = folder / f"{build.key}.zip"
            scratch = target.with_suffix(f".{os.getpid()}")
            _zip(build.path, scratch)
            os.replace(scratch, target)
            digests[build.key] = _digest(target)
    manifest = PackManifest(
        pack=PACK_SCHEMA, command=builder.command, variant=builder.variant, facts=builder.facts, builds=digests
    )
    write_atomically(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=2))
    for path in folder.glob("*.zip"):
        if _NAME.fullmatch(path.name) and path.stem not in digests:  # another file is not ours
            path.unlink()


class PackedBuilds:
    """Provides the builds of a pack, as ``Builder`` does those that it compiles."""

    def __init__(self, repository: Repository, folder: Path, home: Path, *, inputs: Sequence[str]) -> None:
        """Read the pack in ``folder``, to unpack it below ``home``; raises ``RequestError`` for what is no pack."""
        self._repository = repository
        self._folder = folder
        self._inputs = list(inputs)
        data = _manifest_bytes(folder)
        self._manifest = _decoded(folder, data)
        self._home = home / hashlib.sha256(data).hexdigest()[:40]

    def key(self, commit: Commit) -> str:
        """Return the key of ``commit``'s build on the machine that packed."""
        content = content_key(self._repository, commit, self._inputs)
        return cache_key(content, self._manifest.command, self._manifest.variant, self._manifest.facts)

    def has(self, commit: Commit) -> bool:
        """Return whether the pack has a build of ``commit``."""
        return self.key(commit) in self._manifest.builds

    def provide(self, commit: Commit, on_progress: Callable[[str], None] = lambda line: None) -> Build:
        """Return the build of ``commit``, unpacked; raises ``RequestError`` when there is none or it is damaged."""
        started = time.monotonic()
        key = self.key(commit)
        if key not in self._manifest.builds:
            raise RequestError(
                f"{self._folder} has no build of {plain(commit.name)} ({commit.sha[:8]}): its builds are of other "
                "sources; build it with `solwatch build`, from the same commits and settings"
            )
        path = self._home / key
        lock = FileLock(self._home / "locks" / f"{key}.lock")
        lock.acquire(lambda holder: on_progress(f"waiting for {key[:8]} to be unpacked by process {holder}"))
        with lock:
            if not path.is_dir():
                self._unpack(key, path)
        with disk_errors(self._home):
            os.utime(self._home)
            _prune(self._home)
        return Build(path=path, key=key, built=False, wall_s=time.monotonic() - started)

    def _unpack(self, key: str, path: Path) -> None:
        packed = self._folder / f"{key}.zip"
        scratch = path.with_suffix(".unpacked")
        if packed.is_symlink() or not packed.is_file():
            raise RequestError(f"{packed} is missing: the pack is not whole")
        if _digest(packed) != self._manifest.builds[key]:
            raise RequestError(f"{packed} is not what {MANIFEST} says (SHA-256 differs): get the pack again")
        with disk_errors(path):
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(parents=True)
            try:
                with zipfile.ZipFile(packed) as archive:
                    _check(packed, archive)
                    archive.extractall(scratch)
            except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, UnicodeError) as error:
                raise RequestError(f"{packed} can't be unpacked: {plain(str(error))}") from error
            os.rename(scratch, path)
            sync_folder(path.parent)


def _zip(source: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(each for each in source.rglob("*") if each.is_file()):
            # without the time of the day: the same build gives the same file
            entry = zipfile.ZipInfo(path.relative_to(source).as_posix())
            entry.external_attr = (stat.S_IFREG | stat.S_IMODE(path.stat().st_mode)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def _check(packed: Path, archive: zipfile.ZipFile) -> None:
    """Raise ``RequestError`` for entries that lie outside of the folder, aren't plain files, or are too large."""
    size = 0
    for entry in archive.infolist():
        name, mode = PurePosixPath(entry.filename), entry.external_attr >> 16
        if name.is_absolute() or ".." in name.parts or "\\" in entry.filename or "\0" in entry.filename:
            raise RequestError(f"{packed}: entry {plain(entry.filename)!r} would lie outside of its folder")
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise RequestError(f"{packed}: entry {plain(entry.filename)!r} is not a plain file")
        size += entry.file_size
        if size > MOST_BYTES:
            raise RequestError(f"{packed} unpacks to more than {MOST_BYTES >> 20} MiB: it is not a build of kernels")


def _manifest_bytes(folder: Path) -> bytes:
    data = read_file(folder / MANIFEST, MANIFEST_BYTES)
    if data is None:
        raise RequestError(f"{folder} is no folder of builds: it has no {MANIFEST}; `solwatch build` makes one")
    return data


def _decoded(folder: Path, data: bytes) -> PackManifest:
    try:
        manifest = msgspec.json.decode(data, type=PackManifest)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise RequestError(f"{folder / MANIFEST}: {plain(str(error))}") from error
    if manifest.pack != PACK_SCHEMA:
        raise RequestError(
            f"{folder / MANIFEST} is a pack of format {manifest.pack}, this solwatch reads {PACK_SCHEMA}"
        )
    return manifest


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _prune(current: Path) -> None:
    """Delete the packs used longest ago, beyond the number to keep."""
    homes = sorted(current.parent.iterdir(), key=lambda home: home.stat().st_mtime, reverse=True)
    for home in homes[KEPT_PACKS:]:
        if home != current:
            shutil.rmtree(home, ignore_errors=True)
