"""Merging two copies of asv's result files, benchmark by benchmark and cell by cell, so that nothing is lost."""

import itertools
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec
from asv.benchmarks import Benchmarks
from asv.machine import Machine
from asv.results import Results

BENCHMARKS = "benchmarks.json"
MACHINE = "machine.json"

_PATH = re.compile(
    r"(?P<machine>[^/\x00-\x1f\x7f]{1,200})/(?P<name>machine\.json|[0-9a-f]{8}-[^/\x00-\x1f\x7f]{1,200}\.json)"
)
"""Where a machine's description and its results lie, below the folder of results."""

_FILES = (".json", ".jsonl")
"""Endings of the files that lie beside the machines' folders."""

MOST_CELLS = 1_000_000
"""Combinations of parameters that a benchmark may have; a damaged file could name more than memory holds."""

Document = dict[str, Any]


class UnreadableError(Exception):
    """A file isn't what its name says: one short reason."""


class _ResultFile(msgspec.Struct):
    """What must be right in a file of results before it is merged; the rest is kept as it is."""

    commit_hash: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{40,64}$")]
    env_name: str
    date: float
    python: str
    params: dict[str, Any]
    requirements: dict[str, Any]
    result_columns: list[str]
    results: dict[str, list[Any]]
    durations: dict[str, Any] = {}


class _Row(msgspec.Struct):
    """One benchmark's row; ``params`` are ``None`` in no file of asv's own."""

    params: list[list[str]] = []
    version: str | None = None
    started_at: float | None = None


class Listed(msgspec.Struct):
    """A benchmark as benchmarks.json lists it."""

    name: str
    params: list[list[str]]
    param_names: list[str]
    version: str | None = None
    unit: str | None = None


_PER_CELL = re.compile(r"result|samples|stats_.+")
"""Columns that hold one value for each combination of parameters."""


def is_results(path: str) -> bool:
    """Return whether asv keeps a file under this path below its folder of results; nothing leads out of it."""
    if path == BENCHMARKS:
        return True
    match = _PATH.fullmatch(path)
    return match is not None and not match["machine"].startswith(".") and not match["machine"].endswith(_FILES)


def merged(path: str, branch: bytes | None, local: bytes) -> bytes:
    """Return the local file merged into the branch's; one of the two as it is, when it has all of that already.

    Raises ``UnreadableError`` when either is not what ``path`` says: whose, is said.
    """
    reader = _reader(path)
    ours = _read("this machine's", reader, path, local)
    if branch is None:
        return local
    theirs = _read("the branch's", reader, path, branch)
    if path == BENCHMARKS:
        both = _merged_benchmarks(theirs, ours)
    elif path.endswith(f"/{MACHINE}"):
        both = ours
    else:
        both = _merged_results(theirs, ours)
    for had, content in ((theirs, branch), (ours, local)):
        if _canonical(both) == _canonical(had):
            return content
    return json.dumps(both).encode()


def checked(path: str, content: bytes) -> bytes:
    """Return a file as it is; raises ``UnreadableError`` when it isn't what ``path`` says."""
    _reader(path)(path, content)
    return content


def listed_benchmarks(content: bytes) -> dict[str, Listed]:
    """Return what benchmarks.json lists; raises ``UnreadableError``."""
    document = _benchmarks(BENCHMARKS, content)
    return {name: msgspec.convert(entry, Listed) for name, entry in document.items() if name != "version"}


def _reader(path: str) -> Callable[[str, bytes], Document]:
    if path == BENCHMARKS:
        return _benchmarks
    return _machine if path.endswith(f"/{MACHINE}") else _results


def _read(whose: str, reader: Callable[[str, bytes], Document], path: str, content: bytes) -> Document:
    try:
        return reader(path, content)
    except UnreadableError as error:
        raise UnreadableError(f"{whose} {error}") from error


def _document(content: bytes, version: int) -> Document:
    try:
        found = json.loads(content.decode())  # UTF-8, as asv reads it; from bytes any encoding would do
        if b"\\ud" in content.lower():
            json.dumps(found, ensure_ascii=False).encode()  # fails for half a character, which nothing could print
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"is not whole JSON ({error})") from error
    if not isinstance(found, dict) or found.get("version") != version:
        raise UnreadableError(f"is not in asv's format {version}")
    return found


def _benchmarks(path: str, content: bytes) -> Document:
    document = _document(content, Benchmarks.api_version)
    for name, entry in document.items():
        if name == "version":
            continue
        listed = _converted(entry, Listed)
        if listed.name != name:
            raise UnreadableError(f"has the benchmark {name!r} under another name")
        _size(listed.params)
    return document


def _machine(path: str, content: bytes) -> Document:
    document = _document(content, Machine.api_version)
    if document.get("machine") != path.partition("/")[0]:
        raise UnreadableError("describes another machine")
    return document


def _results(path: str, content: bytes) -> Document:
    document = _document(content, Results.api_version)
    machine, _, name = path.partition("/")
    read = _converted(document, _ResultFile)
    if not name.startswith(read.commit_hash[:8]):
        raise UnreadableError(f"holds another commit, {read.commit_hash[:12]}")
    if read.params.get("machine") != machine:
        raise UnreadableError("is of another machine")
    for benchmark, values in read.results.items():
        row = dict(zip(read.result_columns, values, strict=False))
        size = _size(_converted(_present(row), _Row).params)
        for column, value in row.items():
            if (
                _PER_CELL.fullmatch(column)
                and value is not None
                and not (isinstance(value, list) and len(value) == size)
            ):
                raise UnreadableError(f"has no {column} for each of the {size} cells of {benchmark!r}")
        document["results"][benchmark] = _as_values(row, read.result_columns)
    return document


def _size(axes: list[list[str]]) -> int:
    size = math.prod(len(axis) for axis in axes)
    if size > MOST_CELLS:
        raise UnreadableError(f"has a benchmark of {size} cells, more than {MOST_CELLS}")
    return size


def _converted(value: Any, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise UnreadableError(f"is not asv's ({error})") from error


def _present(row: Document) -> Document:
    return {name: value for name, value in row.items() if value is not None}


def _merged_benchmarks(branch: Document, local: Document) -> Document:
    """Return both lists; a benchmark of one version has the values of both, of two versions the local one is it."""
    both = branch | local
    for name in (branch.keys() & local.keys()) - {"version"}:
        theirs, ours = branch[name], local[name]
        same = theirs.get("version") == ours.get("version") and len(theirs["params"]) == len(ours["params"])
        if same:  # the branch's own entry stays, or two writers would go on replacing each other's
            axes = _united(theirs["params"], ours["params"])
            _size(axes)
            both[name] = theirs | {"params": axes}
    return both


def _merged_results(branch: Document, local: Document) -> Document:
    """Return one file with the benchmarks of both; of a benchmark that both have, the cells of both, newest first.

    Of two that are equally new the branch's is it, so that a merge that was done once changes nothing again.
    """
    if branch["commit_hash"] != local["commit_hash"]:
        raise UnreadableError(f"the branch's holds another commit of the same eight digits, {branch['commit_hash']}")
    older, newer = sorted((local, branch), key=_latest)
    columns = list(dict.fromkeys([*newer["result_columns"], *older["result_columns"]]))
    rows = {}
    for name in sorted(older["results"].keys() | newer["results"].keys()):
        found = [_row(file, name) for file in (local, branch) if name in file["results"]]
        rows[name] = _as_values(_merged_rows(found), columns)
    durations = older.get("durations", {}) | newer.get("durations", {})
    return newer | {"result_columns": columns, "results": rows, "durations": durations}


def _row(file: Document, name: str) -> Document:
    return dict(zip(file["result_columns"], file["results"][name], strict=False))


def _latest(file: Document) -> float:
    return max((_started(_row(file, name)) for name in file["results"]), default=0.0)


def _merged_rows(rows: list[Document]) -> Document:
    """Return the newest row, with those of the other's cells that it doesn't say anything of.

    A cell that wasn't measured is NaN in it, one that failed is ``None``: that is said of it. Rows of different
    versions don't mix: the newer one is it.
    """
    *_, older, newer = [rows[0], *sorted(rows, key=_started)]
    old_axes, new_axes = older.get("params") or [], newer.get("params") or []
    if older is newer or older.get("version") != newer.get("version") or len(old_axes) != len(new_axes):
        return newer
    axes = _united(new_axes, old_axes)
    _size(axes)
    old_places, new_places = _places(old_axes), _places(new_axes)
    sources: list[tuple[Document, int | None]] = []
    for cell in itertools.product(*axes):
        old, new = old_places.get(cell), new_places.get(cell)
        sources.append((older, old) if new is None or (old is not None and _unsaid(newer, new)) else (newer, new))
    both = newer | {"params": axes}
    for column in filter(_PER_CELL.fullmatch, older.keys() | newer.keys()):
        both[column] = [_value(row, column, at) for row, at in sources]
    return both


def _started(row: Document) -> float:
    return float(row.get("started_at") or 0)


def _places(axes: list[list[str]]) -> dict[tuple[str, ...], int]:
    return {cell: at for at, cell in enumerate(itertools.product(*axes))}


def _value(row: Document, column: str, at: int | None) -> Any:
    if at is None:
        return math.nan if column == "result" else None
    return row[column][at] if row.get(column) is not None else None


def _unsaid(row: Document, at: int) -> bool:
    value = _value(row, "result", at)
    return isinstance(value, float) and math.isnan(value)


def _as_values(row: Document, columns: list[str]) -> list[Any]:
    """Return a row as asv writes it: nothing for a list of nothing, and no nothing at its end."""
    values = [row.get(column) for column in columns]
    values = [
        None if isinstance(value, list) and value and set(map(type, value)) == {type(None)} else value
        for value in values
    ]
    while values and values[-1] is None:
        values.pop()
    return values


def _united(first: list[list[str]], second: list[list[str]]) -> list[list[str]]:
    united = []
    for had, has in zip(first, second, strict=True):
        known = set(had)
        united.append([*had, *(value for value in has if value not in known)])
    return united


def _canonical(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True)
