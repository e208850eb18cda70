"""Where CUDA's tools for machine code and profiling lie, and running one with a limit of time."""

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class ToolFailed(Exception):
    """A tool that is missing, late or refuses; says in one line which and why."""


def find_tool(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the path of a CUDA tool: on PATH, below CUDA_HOME or /usr/local/cuda, or of NVIDIA's own packages."""
    homes = [environment.get("CUDA_HOME"), environment.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = [*environment.get("PATH", "").split(os.pathsep), *(f"{home}/bin" for home in homes if home)]
    folders += [str(folder) for root in _packages() for folder in sorted(root.glob("cu*/bin"))]
    folders += [str(folder) for root in _packages() for folder in sorted(root.glob("cuda_*/bin"))]
    return shutil.which(name, path=os.pathsep.join(folders))


def run_tool(command: Sequence[str], *, limit_s: float, environment: Mapping[str, str], cwd: Path | None = None) -> str:
    """Return what ``command`` prints to stdout, whatever it returns; raises ``ToolFailed`` without output or in vain.

    It runs in a session of its own and is ended whole, children included, after ``limit_s`` seconds.
    """
    name = Path(command[0]).name
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=cwd,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolFailed(f"{name} can't be started: {error.strerror or error}") from None
    try:
        printed, complained = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"{name} was ended after {limit_s:g} s") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    text = printed.decode(errors="replace")
    if process.returncode != 0 and not text.strip():
        words = complained.decode(errors="replace").strip().splitlines()
        raise ToolFailed(f"{name} failed with exit code {process.returncode}: {words[-1] if words else 'no message'}")
    return text


def _packages() -> list[Path]:
    found = importlib.util.find_spec("nvidia")
    return [Path(place) for place in found.submodule_search_locations or []] if found else []
