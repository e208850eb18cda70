"""Unpacking a wheel to a folder that only has to be put on ``sys.path``."""

import os
import shutil
import zipfile
from pathlib import Path

from solwatch.workspace.files import sync_folder


def unpack_wheel(wheel: Path, dest: Path) -> None:
    """Unpack ``wheel`` into the new folder ``dest`` and sync it to disk.

    ``purelib`` and ``platlib`` of the ``.data`` folder move to the top, as an installer would do; scripts,
    headers and data files have no place on ``sys.path`` and stay where they are. Raises ``OSError`` and
    ``zipfile.BadZipFile``.
    """
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(dest)
    for data in dest.glob("*.data"):
        for scheme in ("purelib", "platlib"):
            if (data / scheme).is_dir():
                shutil.copytree(data / scheme, dest, dirs_exist_ok=True)
                shutil.rmtree(data / scheme)
    _sync_tree(dest)


def _sync_tree(root: Path) -> None:
    for folder, _, names in os.walk(root):
        for name in names:
            handle = os.open(Path(folder, name), os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        sync_folder(Path(folder))
