"""Tables of TOML as typed values: every mistake is one line that names the key, the value and what is allowed."""

import difflib
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import msgspec.inspect

from solwatch.model.errors import RequestError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

_MOST_QUOTED = 200
"""Characters of a refused key or value that a message quotes."""


def read_toml(path: Path) -> dict[str, Any]:
    """Return what the file ``path`` says; raises ``RequestError``."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RequestError(f"{path} can't be read: {error.strerror}") from error
    return parse_toml(content, path.name)


def parse_toml(content: bytes, source: str) -> dict[str, Any]:
    """Return what ``content`` says; ``source`` names it in the ``RequestError`` for what is no TOML."""
    try:
        parsed: dict[str, Any] = tomllib.loads(content.decode())
        repr(parsed)  # fails for a hexadecimal number of thousands of digits, which no message could quote
        return parsed
    except RecursionError as error:
        raise RequestError(f"{source} is nested too deeply: settings need a table in a list at most") from error
    except ValueError as error:  # what isn't TOML or UTF-8, and a number of thousands of digits
        raise RequestError(f"{source} is not valid TOML: {error}") from error


def checked(kind: type[msgspec.Struct], given: Mapping[str, Any], source: str, where: str = "") -> dict[str, Any]:
    """Return ``given`` converted to the types of ``kind``'s fields.

    ``source``: the file's name, ``where``: what stands before a key in messages. Raises ``RequestError`` for a key
    that ``kind`` doesn't have, a value outside its domain and a key that is missing.
    """
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    values: dict[str, Any] = {}
    for key, value in given.items():
        name = f"{where}{key}"
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=1, cutoff=0.0)
            raise RequestError(f"unknown setting {_quoted(name)} in {source}: the nearest known one is {near[0]!r}")
        values[key] = _converted(name, value, fields[key].type, source)
    missing = [field.name for field in fields.values() if field.required and field.name not in given]
    if missing:
        raise RequestError(f"{where}{missing[0]} is missing in {source}: it is required")
    return values


def _converted(name: str, value: Any, kind: Any, source: str) -> Any:
    refused = RequestError(f"{name} = {_quoted(value)} in {source}: allowed is {domain(kind)}")
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
    if isinstance(info, msgspec.inspect.DateType):
        return "a date like 2026-12-31"
    if isinstance(info, msgspec.inspect.LiteralType):
        return " or ".join(repr(value) for value in info.values)
    if isinstance(info, msgspec.inspect.ListType):
        least = f" with at least {info.min_length}" if info.min_length else ""
        return f"a list{least} of: {_domain(info.item_type)}"
    if isinstance(info, msgspec.inspect.UnionType):
        return " or ".join(_domain(each) for each in info.types if not isinstance(each, msgspec.inspect.NoneType))
    return type(info).__name__.removesuffix("Type").lower()


def _quoted(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _MOST_QUOTED else f"{shown[:_MOST_QUOTED]}…"
