"""Existing virtual environments: whether one can measure, and what is installed in it."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec

from solwatch.model.errors import MachineError, RequestError

OLDEST_PYTHON = (3, 10)
PROBE_LIMIT_S = 60.0
PROVIDERS = {"torch": "torch", "msgspec": "msgspec", "numpy": "numpy", "pynvml": "nvidia-ml-py"}
"""What a measuring process imports beside the standard library, and what to install to have it."""

GPU_PROVIDERS = {"cuda.bindings": "cuda-bindings"}

_PROBE = """
import json, sys
if sys.path[:1] == [""]: del sys.path[0]
import importlib.machinery, importlib.metadata, importlib.util

def origin(name):
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    # a folder that merely has the name, without an __init__.py, is no copy of anything
    return found and (found.origin or (list(found.submodule_search_locations or [""])[0] if "." in name else None))

packages = {}
for one in importlib.metadata.distributions():
    name = (one.metadata["Name"] or "").lower().replace("_", "-")
    if name: packages.setdefault(name, one.version or "unknown")
print()
print(json.dumps({"version": list(sys.version_info[:3]), "packages": packages,
                  "origins": {name: origin(name) for name in sys.argv[1:]}}))
"""


class _Answer(msgspec.Struct, frozen=True):
    version: tuple[int, int, int]
    packages: dict[str, str]
    origins: dict[str, str | None]


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """An environment's interpreter.

    ``packages``: versions of the distributions that it sees. ``origins``: of the modules that were asked for,
    the file each would be imported from; ``None`` for one that isn't there.
    """

    python: Path
    version: tuple[int, int, int]
    packages: Mapping[str, str]
    origins: Mapping[str, str | None]


def look_into(folder: Path, variables: Mapping[str, str], modules: Sequence[str] = ()) -> Interpreter:
    """Ask the interpreter of the environment in ``folder`` what it has; ``variables`` are all that it may see.

    Raises ``RequestError`` when ``folder`` is no environment, ``MachineError`` when its interpreter doesn't run.
    """
    python = folder.absolute() / "bin" / "python"  # not resolved: what the link points to is another environment
    if not folder.is_dir():
        raise RequestError(f"{folder} is no folder: give the folder of a virtual environment")
    if not python.exists() and not python.is_symlink():
        raise RequestError(f"{folder} is no virtual environment: it has no bin/python")
    try:
        ended = subprocess.run(
            [python, "-c", _PROBE, *modules],
            env=dict(variables), stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_LIMIT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        why = error.strerror if isinstance(error, OSError) else f"no answer for {PROBE_LIMIT_S:g} s"
        raise MachineError(f"{python} does not run ({why}): make the environment again") from None
    try:
        answer = msgspec.json.decode((ended.stdout.splitlines() or [b""])[-1], type=_Answer)
    except msgspec.DecodeError:
        said = ended.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        why = f"exit code {ended.returncode}: {said[-1][:200]}"
        raise MachineError(f"{python} does not run ({why}): make the environment again") from None
    return Interpreter(python=python, version=answer.version, packages=answer.packages, origins=answer.origins)


def able_to_measure(folder: Path, variables: Mapping[str, str], *, on_gpu: bool) -> Interpreter:
    """Return the interpreter of ``folder`` when it has what measuring needs.

    Raises ``MachineError`` with the command that installs what is missing. asv_runner has to be of this
    process's version: both sides' suites are read in one way.
    """
    providers = PROVIDERS | (GPU_PROVIDERS if on_gpu else {})
    found = look_into(folder, variables, [*providers])
    if found.version[:2] < OLDEST_PYTHON:
        had, needed = (".".join(map(str, one)) for one in (found.version, OLDEST_PYTHON))
        raise MachineError(f"{folder} has Python {had}, measuring needs {needed}: make it with a newer one")
    missing = [package for module, package in providers.items() if found.origins.get(module) is None]
    runner = version("asv_runner")
    if found.packages.get("asv-runner") != runner:
        missing.append(f"asv_runner=={runner}")
    if missing:
        raise MachineError(
            f"{folder} lacks {', '.join(missing)}, which measuring needs: "
            f"{found.python} -m pip install {' '.join(missing)}"
        )
    return found


def top_level_modules(build: Path) -> list[str]:
    """Return the names that the unpacked wheel in ``build`` makes importable."""
    names = set()
    for entry in build.iterdir():
        if entry.is_dir() and entry.name.isidentifier() and entry.name != "__pycache__":
            names.add(entry.name)
        elif entry.suffix in (".py", ".so"):
            names.add(entry.name.split(".")[0])
    return sorted(names)


def interpreter_of(build: Path) -> str | None:
    """Return the one interpreter that the unpacked wheel in ``build`` is for (``cp312``), ``None`` for any."""
    try:
        wheel = str(json.loads((build / "solwatch-build.json").read_bytes())["wheel"])
    except (OSError, ValueError, KeyError):
        return None
    python, abi = wheel.removesuffix(".whl").split("-")[-3:-1]
    return None if abi in ("none", "abi3") or python.startswith("py") else python
