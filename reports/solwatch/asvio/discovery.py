"""Finding the cells of a suite in this process, as asv would find them."""

import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from asv_runner.benchmarks._base import _repr_no_address
from asv_runner.discovery import _get_benchmark

from solwatch.asvio.asvcell import AsvCell, CellSkipped, SetupCaches
from solwatch.asvio.modules import import_suite, one_line
from solwatch.model.cell import Cell, CellInfo, CellSuite

__all__ = ["AsvCell", "CellSkipped", "Discovery", "cell_key", "discover"]


@dataclass(frozen=True)
class _Found:
    """A cell with what it takes to run it.

    ``make`` makes the benchmark anew, with an instance of its class of its own, as asv does for each combination.
    ``index`` counts the combinations.
    """

    info: CellInfo
    benchmark: Any
    make: Callable[[], Any]
    suite: CellSuite | None
    params: tuple[Any, ...]
    index: int


class Discovery:
    """The cells of one suite.

    ``infos``: in the order of the suite. ``import_failures``: modules and classes that could not be loaded, name
    to one line.
    """

    def __init__(self, found: Sequence[_Found], import_failures: dict[str, str]) -> None:
        """Use :func:`discover`."""
        self._found = {each.info.key: each for each in found}
        self._caches = SetupCaches()
        self.infos = [each.info for each in self._found.values()]
        self.import_failures = import_failures

    def info(self, key: str) -> CellInfo:
        """Return the info of one cell; raises ``KeyError`` for a key that isn't there."""
        return self._cell(key).info

    def suite_cell(self, key: str) -> Cell:
        """Return the cell that a solwatch suite declares; the suite's ``cell`` imports torch and the op now.

        Raises ``CellSkipped`` when the suite skips the combination, ``KeyError`` for an unknown key, and whatever
        the suite raises.
        """
        found = self._cell(key)
        if found.suite is None:
            raise KeyError(f"unknown cell {key!r}: it is an asv benchmark, not a cell of a solwatch suite")
        if found.params in found.benchmark._skip_tuples:
            raise CellSkipped(f"{key} is in skip_params")
        _require_one_rank(found.suite)
        try:
            cell = found.suite.cell(*found.params)
        except NotImplementedError as error:
            raise CellSkipped(str(error)) from error
        _require_one_rank(cell)
        return cell

    def asv_cell(self, key: str) -> AsvCell:
        """Return an asv benchmark ready for ``setup``; raises ``KeyError`` for an unknown key."""
        found = self._cell(key)
        if found.suite is not None:
            raise KeyError(f"unknown cell {key!r}: it is a cell of a solwatch suite, not an asv benchmark")
        return AsvCell(found.make(), found.index, self._caches)

    def close(self) -> None:
        """Delete the folders that ``setup_cache`` filled; they also go when the process ends."""
        self._caches.close()

    def _cell(self, key: str) -> _Found:
        if key not in self._found:
            raise KeyError(f"unknown cell {key!r}")
        return self._found[key]


def cell_key(benchmark: str, params: Sequence[Any]) -> str:
    """Return the name of a cell: asv's own form, ``benchmark(repr, repr)``, which ``-b`` matches too."""
    return _key(benchmark, [_repr_no_address(value) for value in params])


def discover(benchmarks_dir: Path | str) -> Discovery:
    """Import the suite in ``benchmarks_dir`` and list its cells.

    The ``track_*`` methods of a class that is a ``CellSuite`` become one cell for each parameter combination;
    every other benchmark asv knows (``time``, ``timeraw``, ``track``, ``mem``, ``peakmem``) becomes one of kind
    ``asv``. A module that doesn't import or a class that can't be made is listed in ``import_failures``.
    """
    modules, failures = import_suite(Path(benchmarks_dir).absolute())
    found: list[_Found] = []
    for module in modules:
        for name, member in list(module.__dict__.items()):
            if name.startswith("_"):
                continue
            try:
                if inspect.isclass(member) and not inspect.isabstract(member):
                    found += _class_cells(module, member)
                elif inspect.isfunction(member):
                    found += _asv_cells(partial(_get_benchmark, name, module, None, member))
            except BaseException as error:  # the suite's own code runs here: constructors, properties
                failures[f"{module.__name__.split('.', 1)[-1]}.{name}"] = one_line(error)
    return Discovery(found, failures)


def _require_one_rank(declared: Any) -> None:
    """Raise ``CellSkipped`` for a class or a cell that wants several GPUs: one of them would not time the operator."""
    ranks = getattr(declared, "ranks", 1)
    if ranks != 1:
        raise CellSkipped(
            f"ranks = {ranks!r}: operators over several GPUs are out of scope, a cell is measured on one GPU; "
            "leave ranks out, or at 1"
        )


def _class_cells(module: ModuleType, kind: type) -> list[_Found]:
    found: list[_Found] = []
    for name, member in inspect.getmembers(kind):
        if not (inspect.isfunction(member) or inspect.ismethod(member)):
            continue
        make = partial(_get_benchmark, name, module, kind, member)
        benchmark = make()
        suite = getattr(benchmark.func, "__self__", None) if benchmark is not None else None
        if isinstance(suite, CellSuite):
            return _suite_cells(benchmark, suite, make)
        found += _asv_cells(make)
    return found


def _suite_cells(benchmark: Any, suite: CellSuite, make: Callable[[], Any]) -> list[_Found]:
    name = benchmark.name.rpartition(".")[0]
    members = {label: [tuple(entry) for entry in entries] for label, entries in suite.sets.items()}
    found = []
    for index, (params, names) in enumerate(_combinations(benchmark)):
        info = CellInfo(
            key=_key(name, names),
            benchmark=name,
            params=names,
            axes=[list(values) for values in benchmark.params],
            param_names=list(benchmark.param_names),
            kind="suite",
            gated=suite.gated,
            device=suite.device,
            sets=[label for label, entries in members.items() if params in entries],
            version=benchmark.version,
        )
        found.append(_Found(info=info, benchmark=benchmark, make=make, suite=suite, params=params, index=index))
    return found


def _asv_cells(make: Callable[[], Any]) -> list[_Found]:
    benchmark = make()
    if benchmark is None:
        return []
    found = []
    for index, (params, names) in enumerate(_combinations(benchmark)):
        info = CellInfo(
            key=_key(benchmark.name, names),
            benchmark=benchmark.name,
            params=names,
            axes=[list(values) for values in benchmark.params],
            param_names=list(benchmark.param_names),
            kind="asv",
            unit=benchmark.unit,
            version=benchmark.version,
            type=benchmark.type,
        )
        found.append(_Found(info=info, benchmark=benchmark, make=make, suite=None, params=params, index=index))
    return found


def _combinations(benchmark: Any) -> list[tuple[tuple[Any, ...], list[str]]]:
    """Return each combination's objects with the names asv gives them; a benchmark without parameters has one."""
    objects = itertools.product(*benchmark._params)
    names = itertools.product(*benchmark.params)
    return [(each, list(name)) for each, name in zip(objects, names, strict=True)]


def _key(benchmark: str, names: Sequence[str]) -> str:
    return f"{benchmark}({', '.join(names)})" if names else benchmark
