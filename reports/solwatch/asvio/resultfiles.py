"""asv's results folder: merging measured values into it so that asv's own commands read them."""

import datetime
import itertools
import json
import math
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from asv.benchmarks import Benchmarks
from asv.environment import get_env_name
from asv.machine import Machine
from asv.results import Results, get_filename
from asv.runner import BenchmarkResult
from asv.util import UserError

from solwatch.model.errors import MachineError

FileWriter = Callable[[Path, bytes], None]
"""Replaces a file atomically; handed in."""

_RESULT_NAME = re.compile(r"[0-9a-f]{8}-.+\.json")


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark as asv's benchmarks.json describes it; ``params``: names of the values, one list a parameter."""

    name: str
    params: list[list[str]]
    param_names: list[str]
    type: str
    unit: str
    version: str


class _Listed(msgspec.Struct):
    """What is read of an entry of benchmarks.json, asv's or solwatch's; the rest is kept as it is."""

    name: str
    params: list[list[str]]
    param_names: list[str]
    version: str | None = None


@dataclass(frozen=True)
class Samples:
    """Values of one cell that asv keeps with statistics; ``number``: calls in each."""

    samples: Sequence[float]
    number: int = 1


Value = Samples | float | None
"""A cell's result: samples, one number (NaN: skipped), or ``None``: failed."""

Values = Mapping[str, Mapping[tuple[str, ...], Value]]
"""Benchmark's name, then the names of the parameters' values, to the result. What isn't there is left as it was."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one file of results is about. ``date_ms``: of the commit, milliseconds since 1970; ``python``: ``3.11``."""

    machine: Mapping[str, str]
    commit: str
    date_ms: int
    python: str

    @property
    def environment(self) -> str:
        """The name asv gives to the environment that shares this interpreter."""
        return str(get_env_name("solwatch", self.python, {}, {}))


def write_results(
    results_dir: Path, measured: Measured, descriptions: Sequence[Description], values: Values, *, write: FileWriter
) -> list[str]:
    """Merge ``values`` into the results of one commit, and ``descriptions`` into benchmarks.json.

    Only the cells in ``values`` change. Returns warnings, one line each, about files that asv will stumble over.
    Raises ``MachineError`` when a file that would have to be merged is half-written or somebody else's; nothing
    is written then. Two writers must take turns: hold a lock.
    """
    folder = results_dir / measured.machine["machine"]
    listed = _listed(results_dir / "benchmarks.json", descriptions)
    machine_file = _machine(folder / "machine.json", measured.machine)
    results = _results(results_dir, measured)
    for name, cells in values.items():
        _add(results, listed[name], cells)
    with tempfile.TemporaryDirectory(prefix="solwatch-results-") as scratch:
        # asv's own writer, so that the format is asv's; into a scratch folder, because it writes in place
        results.save(scratch)
        filename = get_filename(measured.machine["machine"], measured.commit, measured.environment)
        written = (Path(scratch) / filename).read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "machine.json", machine_file)
    write(results_dir / "benchmarks.json", _json(listed | {"version": Benchmarks.api_version}))
    write(results_dir / filename, written)
    return _foreign(folder)


def _listed(path: Path, descriptions: Sequence[Description]) -> dict[str, dict[str, Any]]:
    listed = _load(path, Benchmarks.api_version) if path.exists() else {}
    try:
        known = msgspec.convert(listed, dict[str, _Listed])
    except msgspec.ValidationError as error:
        raise _refusal(path, f"it is not a list of benchmarks: {error}") from error
    if any(entry.name != name for name, entry in known.items()):
        raise _refusal(path, "it has a benchmark under another name")
    for new in descriptions:
        old = listed.get(new.name)
        if old is None or old.get("version") != new.version or len(old["params"]) != len(new.params):
            listed[new.name] = {"code": ""} | msgspec.structs.asdict(new)
        else:  # asv's own entry says more; only values it has not seen are added
            united = [
                [*had, *(value for value in has if value not in had)]
                for had, has in zip(old["params"], new.params, strict=True)
            ]
            listed[new.name] = old | {"params": united}
    return listed


def _machine(path: Path, machine: Mapping[str, str]) -> bytes:
    if path.exists() and _load(path, Machine.api_version).get("machine") != machine["machine"]:
        raise _refusal(path, f"it describes another machine than {machine['machine']}")
    return _json(dict(machine) | {"version": Machine.api_version})


def _results(results_dir: Path, measured: Measured) -> Results:
    params = dict(measured.machine) | {"python": measured.python}
    results = Results(params, {}, measured.commit, measured.date_ms, measured.python, measured.environment, {})
    path = results_dir / get_filename(measured.machine["machine"], measured.commit, measured.environment)
    if path.exists():
        _load(path, Results.api_version)
        try:
            old = Results.load(str(path), machine_name=measured.machine["machine"])
            results.load_data(str(results_dir))
        except (UserError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise _refusal(path, str(error) or type(error).__name__) from error
        if old.commit_hash != measured.commit:
            raise _refusal(path, f"it holds another commit, {old.commit_hash}")
    return results


def _add(results: Results, benchmark: Mapping[str, Any], cells: Mapping[tuple[str, ...], Value]) -> None:
    combinations = list(itertools.product(*benchmark["params"]))
    chosen = [cells.get(params, math.nan) for params in combinations]
    sampled = [value if isinstance(value, Samples) else None for value in chosen]
    results.add_result(
        benchmark,
        BenchmarkResult(
            result=[True if isinstance(value, Samples) else value for value in chosen],
            samples=[list(value.samples) if value else None for value in sampled],
            number=[value.number if value else None for value in sampled],
            errcode=0,
            stderr="",
            profile=None,
        ),
        started_at=datetime.datetime.now(datetime.timezone.utc),
        record_samples=True,
        selected_idx={index for index, params in enumerate(combinations) if params in cells},
    )


def _load(path: Path, version: int) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise _refusal(path, f"it is not whole JSON: {error}") from error
    if not isinstance(data, dict) or data.pop("version", None) != version:
        raise _refusal(path, f"it is not in asv's format {version}")
    return data


def _refusal(path: Path, why: str) -> MachineError:
    return MachineError(f"{path} can't be merged into, {why}. Nothing was written; move the file away and run again")


def _foreign(folder: Path) -> list[str]:
    return [
        f"{path} is not asv's, and asv tries to load it as results: move it away"
        for path in sorted(folder.glob("*.json"))
        if path.name != "machine.json" and not _RESULT_NAME.fullmatch(path.name)
    ]


def _json(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, indent=4, sort_keys=True).encode()
