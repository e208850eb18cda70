"""The folder of results as a set of plain files: what links lead to is neither read nor written."""

from pathlib import Path

from solwatch.model.errors import MachineError
from solwatch.workspace.files import disk_errors, write_atomically


def result_paths(folder: Path) -> list[str]:
    """Return the paths of the plain files in ``folder`` and in its folders, one level deep; none when it is missing."""
    if not folder.is_dir():
        return []
    with disk_errors(folder):
        inside = [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]
        files = [path for each in (folder, *inside) for path in each.iterdir() if path.is_file()]
    return sorted(path.relative_to(folder).as_posix() for path in files if not path.is_symlink())


def write_result(folder: Path, path: str, content: bytes) -> None:
    """Replace ``path`` below ``folder``; raises ``MachineError`` rather than follow a link out of it."""
    target = folder / path
    if target.parent != folder and target.parent.is_symlink():
        raise MachineError(f"{target.parent} is a link, and results are not written beyond it: put a folder there")
    write_atomically(target, content)
