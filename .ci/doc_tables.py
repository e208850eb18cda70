"""Writes the tables of the documentation that are generated from the code, or checks that they are up to date.

A table stands between ``<!-- table NAME -->`` and ``<!-- end of table -->``; everything between is replaced. What
a setting, a field, an exit code or a verdict means is read from its class's docstring, one line ``name: text``
each, with the name in double back quotes; a name without such a line, or such a line without a name, is an error.
"""

import argparse
import datetime
import enum
import inspect
import re
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

import doc_figures
from solwatch.model.acceptance import Acceptance
from solwatch.model.ci_plan import Plan
from solwatch.model.config import CellOverride, Config
from solwatch.model.corpus import CorpusHeader, CorpusRound
from solwatch.model.entry_verdict import EntryVerdict
from solwatch.model.errors import ExitCode
from solwatch.model.fleet import Runner
from solwatch.model.history import ChangePoint, LimitRow, NoiseRow, Reported
from solwatch.model.joint_verdict import JointVerdict
from solwatch.model.verdict import Label, Verdict

ROOT = Path(__file__).resolve().parent.parent
TABLE = re.compile(r"(<!-- table (?P<name>[a-z-]+) -->\n)(?P<body>.*?)(<!-- end of table -->)", re.DOTALL)
MEANING = re.compile(r"^``(\w+)``: (.+)$", re.MULTILINE)


class TableError(Exception):
    """A table can't be made: one line that names what is missing where."""


def meanings(cls: type, names: list[str]) -> dict[str, str]:
    """Return the meaning of each of ``names`` from the docstring of ``cls``; TableError unless all match."""
    found = dict(MEANING.findall(inspect.getdoc(cls) or ""))
    wrong = sorted(set(names) ^ set(found))
    if wrong:
        raise TableError(f"{cls.__name__}: {', '.join(wrong)}: in the class or in its docstring, but not in both")
    return {name: found[name].replace("``", "`") for name in names}


def settings(cls: type[msgspec.Struct]) -> str:
    """Return the table of a configuration struct: key, domain, default, meaning."""
    hints = typing.get_type_hints(cls, include_extras=True)
    texts = meanings(cls, list(cls.__struct_fields__))
    rows = [["key", "domain", "default", "meaning"]]
    for field in msgspec.structs.fields(cls):
        rows.append([f"`{field.name}`", domain(hints[field.name]), default(field), texts[field.name]])
    return markdown(rows)


def fields(cls: type[msgspec.Struct]) -> str:
    """Return the table of a struct's fields: field, meaning."""
    texts = meanings(cls, list(cls.__struct_fields__))
    return markdown([["field", "meaning"], *([f"`{name}`", text] for name, text in texts.items())])


def members(cls: type[enum.Enum]) -> str:
    """Return the table of an enumeration: value, meaning."""
    texts = meanings(cls, [member.name for member in cls])
    head = "exit code" if issubclass(cls, int) else cls.__name__.lower()
    rows = [[head, "meaning"]]
    rows += [[str(member.value) if issubclass(cls, int) else f"`{member.value}`", texts[member.name]] for member in cls]
    return markdown(rows)


def domain(hint: Any) -> str:
    """Return the domain of a type in words a user of TOML knows."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return arguments[1].description or " ".join([domain(arguments[0]), *limits(arguments[1])])
    if origin is typing.Literal:
        return " or ".join(f'`"{value}"`' for value in arguments)
    if origin is list:
        return f"list of: {domain(arguments[0])}"
    if origin is dict:
        return f"table with keys ({domain(arguments[0])}) of: {domain(arguments[1])}"
    present = [argument for argument in arguments if argument is not type(None)]
    if len(present) < len(arguments):  # X | None: absent is what None is in TOML
        return " or ".join(map(domain, present))
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return "`[[tool.solwatch.cells]]`"
    words = {float: "number", int: "whole number", str: "text", bool: "true or false", datetime.date: "date"}
    return words[hint]


def limits(meta: msgspec.Meta) -> list[str]:
    """Return the limits of an annotated type."""
    signs = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
    said = [f"{sign} {value:g}" for name, sign in signs.items() if (value := getattr(meta, name)) is not None]
    if meta.min_length:
        said.append(f"(at least {meta.min_length} of them)")
    return [" and ".join(said)] if said and not meta.min_length else said


def default(field: Any) -> str:
    """Return a field's default as TOML, ``none`` when it may be absent, ``needed`` when it may not."""
    if field.default_factory is not msgspec.NODEFAULT:
        value = field.default_factory()
    elif field.default is not msgspec.NODEFAULT:
        value = field.default
    else:
        return "needed"
    if value is None:
        return "none"
    if value in ([], {}):
        return "empty"
    return f"`{value:g}`" if isinstance(value, float) else f"`{toml(value)}`"


def toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def markdown(rows: list[list[str]]) -> str:
    """Return rows as a Markdown table, the first one its head."""
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in escaped]
    return "\n".join([lines[0], "| " + " | ".join("---" for _ in rows[0]) + " |", *lines[1:]]) + "\n"


TABLES: dict[str, Callable[[], str]] = {
    "ci-plan": lambda: fields(Plan),
    "entry-verdict": lambda: fields(EntryVerdict),
    "joint-verdict": lambda: fields(JointVerdict),
    "corpus-header": lambda: fields(CorpusHeader),
    "corpus-round": lambda: fields(CorpusRound),
    "noise-row": lambda: fields(NoiseRow),
    "limit-row": lambda: fields(LimitRow),
    "reported": lambda: fields(Reported),
    "change-point": lambda: fields(ChangePoint),
    "configuration": lambda: settings(Config),
    "acceptance": lambda: settings(Acceptance),
    "cell-override": lambda: settings(CellOverride),
    "fleet": lambda: settings(Runner),
    "exit-codes": lambda: members(ExitCode),
    "verdicts": lambda: members(Verdict),
    "labels": lambda: members(Label),
    "judges": lambda: markdown(doc_figures.judges()),
    "replay-noise": lambda: markdown(doc_figures.replay_noise()),
    "replay-detection": lambda: markdown(doc_figures.replay_detection()),
}


def renewed(text: str, path: Path) -> str:
    """Return a page with its tables made anew; TableError for a table nobody knows."""

    def table(match: re.Match[str]) -> str:
        if match["name"] not in TABLES:
            raise TableError(f"{path}: no table is named {match['name']}; there are {', '.join(TABLES)}")
        return match[1] + TABLES[match["name"]]() + match[4]

    return TABLE.sub(table, text)


def main() -> int:
    """Write or check all pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is out of date")
    check = parser.parse_args().check
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        new = renewed(text, path.relative_to(ROOT))
        if new != text:
            stale.append(str(path.relative_to(ROOT)))
            if not check:
                path.write_text(new, encoding="utf-8")
    if stale:
        said = "out of date, run `python .ci/doc_tables.py`" if check else "written"
        print(f"{', '.join(stale)}: {said}", file=sys.stderr)
    return 1 if stale and check else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (TableError, doc_figures.StaleFiguresError) as error:
        print(f"tables: {error}", file=sys.stderr)
        sys.exit(1)
