"""Reading ``fleet.json``: every mistake is one line that names the key, the value and what is allowed."""

import difflib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from solwatch.model.errors import MachineError, RequestError
from solwatch.model.fleet import Fleet, Runner
from solwatch.workspace.files import read_file
from solwatch.workspace.tables import checked

FLEET_FILE = Path(".github") / "fleet.json"

_MOST_BYTES = 1 << 20


def load_fleet(path: Path) -> Fleet:
    """Return the fleet that the file at ``path`` describes; raises ``RequestError``."""
    fleet = Fleet(runners=_runners(_parsed(path), path))
    for index, runner in enumerate(fleet.runners):
        _check_together(runner, f"runners[{index}].", path)
    name, count = Counter(runner.name for runner in fleet.runners).most_common(1)[0]
    if count > 1:
        raise RequestError(f"{count} runners are named {name!r} in {path}: give each a name of its own")
    return fleet


def find_runner(fleet: Fleet, name: str, path: Path) -> Runner:
    """Return the entry called ``name``; raises ``RequestError`` that names the nearest one."""
    by_name = {runner.name: runner for runner in fleet.runners}
    if name not in by_name:
        near = difflib.get_close_matches(name, by_name, n=1, cutoff=0.0)
        raise RequestError(f"no runner is named {name!r} in {path}: the nearest known one is {near[0]!r}")
    return by_name[name]


def ephemeral_runners(fleet: Fleet, path: Path) -> list[Runner]:
    """Return the entries that code from a fork may run on; raises ``MachineError`` when there is none."""
    found = [runner for runner in fleet.runners if runner.ephemeral]
    if not found:
        raise MachineError(
            f"infrastructure: no runner in {path} is ephemeral: code from a fork runs on no runner that is kept; "
            "set up an ephemeral one, or push the change to a branch of this repository after review"
        )
    return found


def _parsed(path: Path) -> dict[str, object]:
    content = read_file(path, _MOST_BYTES)
    if content is None:
        raise RequestError(f"{path} is not there: write it, or name the fleet's file with --file")
    try:
        parsed = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} is not valid JSON: {error}") from error
    except RecursionError as error:
        raise RequestError(f"{path} is nested too deeply: a fleet is a list of runners") from error
    if not isinstance(parsed, dict):
        raise RequestError(f'{path} must be an object with the key "runners", not {type(parsed).__name__}')
    return parsed


def _runners(parsed: Mapping[str, object], path: Path) -> list[Runner]:
    for key in parsed.keys() - {"$schema", "runners"}:
        raise RequestError(f"unknown setting {key[:80]!r} in {path}: the only one is 'runners', a list")
    if "runners" not in parsed:
        raise RequestError(f"runners is missing in {path}: it is required")
    entries = parsed["runners"]
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, Mapping) for entry in entries):
        raise RequestError(f"runners in {path} is not a list of at least one object: write each runner as one")
    return [
        Runner(**checked(Runner, entry, str(path), where=f"runners[{index}].")) for index, entry in enumerate(entries)
    ]


def _check_together(runner: Runner, where: str, path: Path) -> None:
    """Refuse values that are each allowed but contradict each other."""
    if runner.gpu is None:
        for key, given in (("architectures", runner.architectures), ("gpu_count", runner.gpu_count)):
            if given not in ([], 1):
                raise RequestError(f"{where}{key} = {given!r} in {path}: without {where}gpu there is no GPU to have it")
    elif not runner.architectures:
        raise RequestError(f"{where}architectures is missing in {path}: a runner with a GPU needs at least one")
    if len({label.lower() for label in runner.labels}) < len(runner.labels):
        raise RequestError(f"{where}labels = {runner.labels!r} in {path}: allowed is each label once")
    price, spot = runner.price_usd_per_h, runner.spot_price_usd_per_h
    if price is not None and spot is not None and spot > price:
        raise RequestError(
            f"{where}spot_price_usd_per_h = {spot:g} in {path}: allowed is at most {where}price_usd_per_h = {price:g}"
        )
