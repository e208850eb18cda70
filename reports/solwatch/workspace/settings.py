"""Reading ``[tool.solwatch]``: every mistake is one line that names the key, the value and what is allowed."""

import difflib
import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import msgspec.inspect

from solwatch.model.config import CellOverride, Config
from solwatch.model.errors import RequestError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]


def load_config(root: Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """Return the settings of the repository at ``root``, ``overrides`` (the command line's) on top.

    They are read from ``[tool.solwatch]`` in pyproject.toml or from solwatch.toml; both at once are an error, and
    neither means defaults. An override of ``None`` wasn't given. Raises ``RequestError``.
    """
    settings, source = _read(root)
    values = _checked(Config, settings, source)
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    values |= _checked(Config, given, "the command line")
    config = Config(**values)
    _check_together(config, source)
    _check_folders(config, root, source)
    return config


def without_settings(project: bytes) -> bytes | None:
    """Return what a pyproject.toml says beside ``[tool.solwatch]``, as JSON; ``None`` when it isn't TOML.

    Nothing that a build does depends on that table: its command and variables are part of a build's key themselves.
    """
    try:
        parsed = tomllib.loads(project.decode())
        if isinstance(tools := parsed.get("tool"), dict):
            tools.pop("solwatch", None)
        if tools == {}:
            del parsed["tool"]
        return json.dumps(parsed, default=repr).encode()
    except (ValueError, RecursionError):
        return None


def _read(root: Path) -> tuple[dict[str, Any], str]:
    found: dict[str, Any] = {}
    source = "pyproject.toml"
    project = root / "pyproject.toml"
    own = root / "solwatch.toml"
    tools = _parse(project).get("tool", {}) if project.exists() else {}
    if not isinstance(tools, dict):
        raise RequestError(f"tool in {project.name} must be a table, not {tools!r}")
    in_project = tools.get("solwatch")
    if in_project is not None and own.exists():
        raise RequestError(f"settings in both {own.name} and [tool.solwatch] of {project.name}: keep one of them")
    if own.exists():
        found, source = _parse(own), own.name
    elif in_project is not None:
        found = in_project
    if not isinstance(found, dict):
        raise RequestError(f"tool.solwatch in {source} must be a table, not {found!r}")
    return found, source


def _parse(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            parsed: dict[str, Any] = tomllib.load(file)
        repr(parsed)  # fails for a hexadecimal number of thousands of digits, which no message could quote
        return parsed
    except RecursionError as error:
        raise RequestError(f"{path.name} is nested too deeply: settings need a table in a list at most") from error
    except ValueError as error:  # what isn't TOML or UTF-8, and a number of thousands of digits
        raise RequestError(f"{path.name} is not valid TOML: {error}") from error
    except OSError as error:
        raise RequestError(f"{path} can't be read: {error.strerror}") from error


def _checked(kind: type[msgspec.Struct], given: Mapping[str, Any], source: str, where: str = "") -> dict[str, Any]:
    """Return ``given`` converted to the types of ``kind``'s fields."""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    values: dict[str, Any] = {}
    for key, value in given.items():
        name = f"{where}{key}"
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=1, cutoff=0.0)
            raise RequestError(f"unknown setting {name!r} in {source}: the nearest known one is {near[0]!r}")
        if key == "cells":
            values[key] = _overrides(value, source)
        else:
            values[key] = _converted(name, value, fields[key].type, source)
    missing = [field.name for field in fields.values() if field.required and field.name not in given]
    if missing:
        raise RequestError(f"{where}{missing[0]} is missing in {source}: it is required")
    return values


def _overrides(value: Any, source: str) -> list[CellOverride]:
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise RequestError(f"cells = {value!r} in {source}: allowed is a list of tables ([[tool.solwatch.cells]])")
    return [
        CellOverride(**_checked(CellOverride, entry, source, where=f"cells[{index}]."))
        for index, entry in enumerate(value)
    ]


def _converted(name: str, value: Any, kind: Any, source: str) -> Any:
    refused = RequestError(f"{name} = {value!r} in {source}: allowed is {domain(kind)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise refused
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise refused from error


def domain(kind: Any) -> str:
    """Return in words what values a setting's type allows; the documentation's table uses it too."""
    return _domain(msgspec.inspect.type_info(kind))


def _domain(info: msgspec.inspect.Type) -> str:
    if isinstance(info, (msgspec.inspect.FloatType, msgspec.inspect.IntType)):
        noun = "a whole number" if isinstance(info, msgspec.inspect.IntType) else "a number"
        limits = [
            f"{words} {limit:g}"
            for words, limit in (
                ("above", info.gt), ("of at least", info.ge), ("below", info.lt), ("of at most", info.le),
            )
            if limit is not None
        ]  # fmt: skip
        return " ".join([noun, " and ".join(limits)]).strip()
    if isinstance(info, msgspec.inspect.Metadata):
        return str((info.extra_json_schema or {})["description"])
    if isinstance(info, msgspec.inspect.DictType):
        return f"a table with keys ({_domain(info.key_type)}) of: {_domain(info.value_type)}"
    if isinstance(info, msgspec.inspect.BoolType):
        return "true or false"
    if isinstance(info, msgspec.inspect.StrType):
        return "text"
    if isinstance(info, msgspec.inspect.LiteralType):
        return " or ".join(repr(value) for value in info.values)
    if isinstance(info, msgspec.inspect.ListType):
        least = f" with at least {info.min_length}" if info.min_length else ""
        return f"a list{least} of: {_domain(info.item_type)}"
    if isinstance(info, msgspec.inspect.UnionType):
        return " or ".join(_domain(each) for each in info.types if not isinstance(each, msgspec.inspect.NoneType))
    return type(info).__name__.removesuffix("Type").lower()


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
