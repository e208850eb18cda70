"""Fleets in files, and the machines that keep their promises or don't."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from solwatch.model.fleet import Runner

H200_ENTRY: Mapping[str, Any] = {
    "name": "h200",
    "labels": ["self-hosted", "gpu-h200"],
    "gpu": "NVIDIA H200",
    "architectures": ["9.0a"],
    "ephemeral": True,
}
CPU_ENTRY: Mapping[str, Any] = {"name": "cpu", "labels": ["ubuntu-latest"], "ephemeral": True, "limit_min": 15}


def runner(**changes: Any) -> Runner:
    """Return an H200's runner with ``changes``."""
    return Runner(**{**H200_ENTRY, **changes})


def fleet_file(folder: Path, *entries: Mapping[str, Any]) -> Path:
    """Write a fleet of ``entries`` into ``folder`` and return its path."""
    path = folder / "fleet.json"
    path.write_text(json.dumps({"runners": [dict(entry) for entry in entries]}), encoding="utf-8")
    return path
