"""Builds the repository's two wheels from a copy of its files, so that nothing is written beside the sources.

The copy holds what git knows or would add: a file that is ignored can't slip into a wheel, and setuptools' own
``build`` folder, whose stale contents it would package again, is never there.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DISTRIBUTIONS = {"fused_o_proj": Path("."), "solwatch": Path("reports")}


class WheelError(Exception):
    """A wheel can't be built: one line, after the build's own output."""


def copy_sources(destination: Path) -> None:
    """Copy the working tree's tracked and not ignored files to ``destination``, over what was there."""
    shutil.rmtree(destination, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, destination / name
        if source.is_file():  # a file deleted from the working tree is still listed
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def build_wheels(work: Path, wheels: Path, *, environment: Mapping[str, str] | None = None) -> dict[str, Path]:
    """Build both wheels into ``wheels``, emptied first; ``work`` keeps the copy and the compiled objects.

    Returns the import names with their wheels. ``environment`` is added to this process's. Raises WheelError.
    """
    copy_sources(work / "source")
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir(parents=True)
    variables = os.environ | {"SOLWATCH_BUILD_CACHE": str(work / "objects")} | dict(environment or {})
    built = {}
    for name, folder in DISTRIBUTIONS.items():
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
        options = ["--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(wheels)]
        done = subprocess.run(
            [*pip, *options, str(work / "source" / folder)], cwd=work, env=variables, check=False
        )  # fmt: skip
        if done.returncode != 0:
            raise WheelError(f"the wheel of {name} does not build (pip ended with {done.returncode}); see above")
        found = sorted(wheels.glob(f"{name}-*.whl"))
        if len(found) != 1:
            raise WheelError(f"the build of {name} left {len(found)} wheels in {wheels}, 1 is needed")
        built[name] = found[0]
    return built
