"""The files by which a step of GitHub Actions hands on its outputs and its summary."""

import os
from collections.abc import Mapping
from pathlib import Path

from solwatch.model.errors import RequestError
from solwatch.workspace.files import disk_errors

OUTPUT = "GITHUB_OUTPUT"
SUMMARY = "GITHUB_STEP_SUMMARY"


def set_outputs(environment: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Append ``outputs`` to the step's; raises ``RequestError`` outside a step and for a value of several lines."""
    for name, value in outputs.items():
        if len(value.splitlines()) > 1 or value.endswith("\n"):
            raise RequestError(f"output {name} = {value!r} has several lines: only one fits")
    _append(_named(environment, OUTPUT), "".join(f"{name}={value}\n" for name, value in outputs.items()))


def summary_bytes(environment: Mapping[str, str]) -> int:
    """Return how much the step's summary holds already; raises ``RequestError`` outside a step."""
    path = _named(environment, SUMMARY)
    with disk_errors(path):
        return path.stat().st_size if path.exists() else 0


def append_summary(environment: Mapping[str, str], text: str) -> None:
    """Append Markdown to the step's summary; raises ``RequestError`` outside a step."""
    _append(_named(environment, SUMMARY), text)


def _named(environment: Mapping[str, str], variable: str) -> Path:
    if not environment.get(variable):
        raise RequestError(f"${variable} is not set: --github is for steps of GitHub Actions, leave it out elsewhere")
    return Path(environment[variable])


def _append(path: Path, text: str) -> None:
    with disk_errors(path), path.open("ab") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
