"""Reading what asv keeps: its list of benchmarks, its files of results, and the value of each cell in them."""

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from asv.results import Results
from asv.util import UserError, is_na

from solwatch.asvio.merging import BENCHMARKS, MACHINE, Listed, UnreadableError, checked, is_results, listed_benchmarks
from solwatch.model.errors import MachineError

MOST = 1e300
"""Beyond this no value is a measured one, and ratios would leave the numbers there are."""

_BRING = "`solwatch history pull` brings the branch's"


def benchmarks_in(results_dir: Path) -> dict[str, Listed]:
    """Return the benchmarks that asv lists; raises ``MachineError`` when the list can't be read."""
    path = results_dir / BENCHMARKS
    try:
        return listed_benchmarks(path.read_bytes())
    except OSError as error:
        raise MachineError(f"{path} can't be read ({error.strerror}): {_BRING}") from error
    except UnreadableError as error:
        raise MachineError(f"{path} {error}: move it away, {_BRING}") from error


def results_in(folder: Path, say: Callable[[str], None], commits: Collection[str] | None = None) -> Iterator[Results]:
    """Yield the files of results of one machine's ``folder``; ``say`` hears of each that can't be read.

    ``commits``: hashes, without which no file is opened; ``None``: all files.
    """
    starts = None if commits is None else {commit[:8] for commit in commits}
    for path in sorted(folder.glob("*.json")):
        name = f"{folder.name}/{path.name}"
        if not is_results(name) or path.name == MACHINE or (starts is not None and path.name[:8] not in starts):
            continue
        try:
            checked(name, path.read_bytes())
            results = Results.load(str(path), machine_name=folder.name)
        except UnreadableError as error:
            say(f"warning: {path} is left out: it {error}")
            continue
        except (OSError, UserError) as error:
            say(f"warning: {path} is left out: {error}")
            continue
        yield results


def values_in(results: Results, benchmarks: Mapping[str, Listed]) -> Iterator[tuple[str, tuple[str, ...], float]]:
    """Yield benchmark, names of the parameters' values, and value, for each cell that was measured.

    Only of the benchmarks given, and only of the version that they have there: others measured something else.
    """
    versions = {name: {"version": listed.version} for name, listed in benchmarks.items()}
    for name in sorted(results.get_result_keys(versions)):
        params = benchmarks[name].params
        for values, value in zip(itertools.product(*params), results.get_result_value(name, params), strict=True):
            if not is_na(value) and isinstance(value, int | float) and 0 < value < MOST:
                yield name, values, float(value)
