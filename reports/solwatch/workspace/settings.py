"""Reading ``[tool.solwatch]``: every mistake is one line that names the key, the value and what is allowed."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from solwatch.model.config import CellOverride, Config
from solwatch.model.errors import RequestError
from solwatch.workspace.tables import checked, parse_toml, read_toml


def load_config(root: Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """Return the settings of the repository at ``root``, ``overrides`` (the command line's) on top.

    They are read from ``[tool.solwatch]`` in pyproject.toml or from solwatch.toml; both at once are an error, and
    neither means defaults. An override of ``None`` wasn't given. Raises ``RequestError``.
    """
    settings, source = _read(root)
    values = _checked(settings, source)
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    values |= _checked(given, "the command line")
    config = Config(**values)
    _check_together(config, source)
    _check_folders(config, root, source)
    return config


def without_settings(project: bytes) -> bytes | None:
    """Return what a pyproject.toml says beside ``[tool.solwatch]``, as JSON; ``None`` when it isn't TOML.

    Nothing that a build does depends on that table: its command and variables are part of a build's key themselves.
    """
    try:
        parsed = parse_toml(project, "pyproject.toml")
        if isinstance(tools := parsed.get("tool"), dict):
            tools.pop("solwatch", None)
        if tools == {}:
            del parsed["tool"]
        return json.dumps(parsed, default=repr).encode()
    except (RequestError, ValueError, RecursionError):
        return None


def _read(root: Path) -> tuple[dict[str, Any], str]:
    found: dict[str, Any] = {}
    source = "pyproject.toml"
    project = root / "pyproject.toml"
    own = root / "solwatch.toml"
    tools = read_toml(project).get("tool", {}) if project.exists() else {}
    if not isinstance(tools, dict):
        raise RequestError(f"tool in {project.name} must be a table, not {tools!r}")
    in_project = tools.get("solwatch")
    if in_project is not None and own.exists():
        raise RequestError(f"settings in both {own.name} and [tool.solwatch] of {project.name}: keep one of them")
    if own.exists():
        found, source = read_toml(own), own.name
    elif in_project is not None:
        found = in_project
    if not isinstance(found, dict):
        raise RequestError(f"tool.solwatch in {source} must be a table, not {found!r}")
    return found, source


def _checked(given: Mapping[str, Any], source: str) -> dict[str, Any]:
    plainly = {key: value for key, value in given.items() if key != "cells"}
    values = checked(Config, plainly, source)
    return values | ({"cells": _overrides(given["cells"], source)} if "cells" in given else {})


def _overrides(value: Any, source: str) -> list[CellOverride]:
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise RequestError(f"cells = {value!r} in {source}: allowed is a list of tables ([[tool.solwatch.cells]])")
    return [
        CellOverride(**checked(CellOverride, entry, source, where=f"cells[{index}]."))
        for index, entry in enumerate(value)
    ]


def _check_together(config: Config, source: str) -> None:
    """Refuse settings that are each allowed but contradict each other."""
    if any(later <= earlier for earlier, later in zip(config.rounds, config.rounds[1:], strict=False)):
        raise RequestError(
            f"rounds = {config.rounds} in {source}: allowed are growing numbers, each look after the last"
        )
    pairs = [("", config.min_effect, config.margin)]
    pairs += [(f"cells[{i}].", cell.min_effect, cell.margin) for i, cell in enumerate(config.cells)]
    for where, min_effect, margin in pairs:
        if min_effect is not None and margin is not None and margin >= min_effect:
            raise RequestError(
                f"{where}margin = {margin} in {source}: allowed is a number below {where}min_effect = {min_effect}"
            )


def _check_folders(config: Config, root: Path, source: str) -> None:
    """Refuse a folder outside ``root``, and one that can't be made because something else lies there."""
    for key in ("benchmarks", "results", "records", "report"):
        given = getattr(config, key)
        said = f"{key} = {given!r} in {source}"
        path = Path(os.path.normpath(given))
        if not given or path.is_absolute() or ".." in path.parts:
            raise RequestError(f"{said}: allowed is a folder under the repository's root")
        for folder in (root / path, *(root / parent for parent in path.parents)):
            if os.path.lexists(folder) and not os.path.isdir(folder):
                raise RequestError(f"{said}: {folder} is not a folder: move it away or set {key!r} to another one")
