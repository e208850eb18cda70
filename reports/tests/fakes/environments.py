"""Virtual environments made in a moment: real ones that see this one's packages, and ones that only answer."""

import importlib.machinery
import importlib.util
import json
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

SHARED = ("torch", "asv_runner", "msgspec", "numpy", "pynvml")


def real_environment(folder: Path, *, shared: bool = True) -> Path:
    """Make a virtual environment; with ``shared`` it sees the packages of this one."""
    venv.create(folder, symlinks=True)
    if shared:
        places = {str(Path(str(spec.origin)).parents[depth]) for spec, depth in map(_found, SHARED)}
        (site_packages(folder) / "shared.pth").write_text("\n".join(sorted(places)) + "\n")
    return folder


def _found(name: str) -> tuple[importlib.machinery.ModuleSpec, int]:
    spec = importlib.util.find_spec(name)
    assert spec is not None, f"{name} is not installed beside the tests"
    return spec, 1 if spec.submodule_search_locations else 0


def site_packages(folder: Path) -> Path:
    (found,) = folder.glob("lib/python*/site-packages")
    return found


def install(folder: Path, name: str, version: str, source: str = "") -> None:
    """Put a package of one file and its metadata into the environment."""
    place = site_packages(folder)
    info = place / f"{name}-{version}.dist-info"
    (place / name).mkdir()
    info.mkdir()
    (place / name / "__init__.py").write_text(source)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def renumber_torch(folder: Path, version: str) -> None:
    """Give the environment a torch of its own that is this one's, file by file, and says another version."""
    import torch

    install(folder, "torch", version)
    place, original = site_packages(folder) / "torch", Path(torch.__file__).parent
    (place / "__init__.py").unlink()
    for entry in original.iterdir():
        if entry.name not in ("version.py", "__pycache__"):
            (place / entry.name).symlink_to(entry)
    numbered = (original / "version.py").read_text()
    (place / "version.py").write_text(f"{numbered}\n__version__ = {version!r}\n")


def answering_environment(folder: Path, script: str) -> Path:
    """Make a folder whose bin/python is a shell script."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    return folder


def answer(packages: Mapping[str, str], *, version: tuple[int, int, int] = sys.version_info[:3]) -> str:
    """Return a script that says what an interpreter with these packages would: module or distribution to version."""
    origins = {name: f"/{name}.py" for name in packages}
    said = {"version": version, "packages": packages, "origins": origins}
    return f"echo noise\ncat <<'EOF'\n{json.dumps(said)}\nEOF"
