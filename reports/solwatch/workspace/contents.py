"""What a folder holds that can run, file by file: of an unpacked build, of a suite."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from solwatch.workspace.machine_code import MAGIC, machine_code_digest

MACHINE_CODE = "machine code"
PYTHON = "Python sources"
REQUIREMENTS = "requirements"
OTHER = "other files of the build"

_DESCRIBING = frozenset({"RECORD", "WHEEL", "INSTALLER", "REQUESTED"})
"""Files of a .dist-info folder that say how the wheel was made and what else is in it."""

_REQUIRING = (b"requires-dist:", b"requires-python:", b"provides-extra:")
_NOTES = "solwatch-build.json"


def contents_of_build(folder: Path, build: str) -> dict[str, dict[str, str]]:
    """Return kind -> path -> SHA-256 of what runs of the unpacked build in ``folder``; ``build``: its key.

    Python sources and data count byte by byte, libraries by what is loaded of them, the wheel's metadata by what it
    requires. Compiled Python beside its source and what solwatch noted of the build are left out.
    """
    found: dict[str, dict[str, str]] = {MACHINE_CODE: {}, PYTHON: {}, REQUIREMENTS: {}, OTHER: {}}
    for name, path in _files(folder):
        if name == _NOTES:
            continue
        top, _, rest = name.partition("/")
        content = _content(path)
        if content.startswith(MAGIC):
            found[MACHINE_CODE][name] = machine_code_digest(content, build)
        elif top.endswith(".dist-info"):
            if rest == "METADATA":
                found[REQUIREMENTS][rest] = _sha256(_requirements(content))
            elif rest not in _DESCRIBING:
                found[OTHER][f".dist-info/{rest}"] = _sha256(content)  # the folder's name has the version
        else:
            found[PYTHON if name.endswith((".py", ".pth")) else OTHER][name] = _sha256(content)
    return found


def contents_of_folder(folder: Path) -> dict[str, str]:
    """Return path -> SHA-256 of all files below ``folder``, compiled Python beside its source left out."""
    return {name: _sha256(_content(path)) for name, path in _files(folder)}


def content_digest(path: Path) -> str | None:
    """Return the SHA-256 of the file at ``path``, ``None`` where there is no file."""
    return _sha256(_content(path)) if path.is_file() else None


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for home, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        linked = [name for name in folders if Path(home, name).is_symlink()]
        for name in sorted([*names, *linked]):
            path = Path(home, name)
            yield path.relative_to(folder).as_posix(), path


def _content(path: Path) -> bytes:
    if path.is_file():
        return path.read_bytes()
    # A link to a folder, a broken one, a pipe: where it leads is not looked at, so that two are the same only in
    # one and the same folder.
    return f"not a file: {path.absolute()}".encode()


def _requirements(metadata: bytes) -> bytes:
    header = metadata.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return b"\n".join(sorted(line for line in header.split(b"\n") if line.lower().startswith(_REQUIRING)))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
