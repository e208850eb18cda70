"""Importing a suite's modules in this process, one broken module not spoiling the others."""

import contextlib
import importlib
import pkgutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from solwatch.model.raised import said


def import_suite(benchmarks_dir: Path) -> tuple[list[ModuleType], dict[str, str]]:
    """Import the package ``benchmarks_dir`` and all modules under it.

    Returns the modules in asv's order, and name to one line of text for those that don't import. The suite's
    parent folder is not put on ``sys.path``: it may hold another version of the project.
    """
    root = benchmarks_dir.name
    _forget(root, benchmarks_dir)
    finder = _SuiteFinder(root, str(benchmarks_dir.parent))
    sys.meta_path[:] = [finder, *(each for each in sys.meta_path if each != finder)]
    modules: list[ModuleType] = []
    failures: dict[str, str] = {}
    _visit(root, modules, failures)
    return modules, failures


@contextlib.contextmanager
def modules_missed() -> Iterator[set[str]]:
    """Collect the names of modules that the block looks for in vain, also where it makes do without them."""
    last = _LastFinder(set())
    sys.meta_path.append(last)
    try:
        yield last.names
    finally:
        sys.meta_path.remove(last)


@dataclass(frozen=True)
class _SuiteFinder:
    """Finds the package ``name`` in the folder ``parent`` and nothing else.

    asv's own finder does the same, but only for three arguments: pytest, which gives two, can't import anything more.
    """

    name: str
    parent: str

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the suite's place where it is asked for."""
        return PathFinder.find_spec(name, [self.parent], target) if name == self.name and path is None else None


@dataclass(frozen=True, eq=False)
class _LastFinder:
    """The finder that is asked when no other has found a module."""

    names: set[str]

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Note that ``name`` isn't there."""
        self.names.add(name)


def _visit(name: str, modules: list[ModuleType], failures: dict[str, str]) -> None:
    try:
        module = importlib.import_module(name)
    except BaseException as error:  # pytest.skip and cancellations are no Exception
        failures[name.split(".", 1)[-1]] = one_line(error)
        return
    modules.append(module)
    for _, child, _ in pkgutil.iter_modules(getattr(module, "__path__", []), f"{name}."):
        _visit(child, modules, failures)


def _forget(root: str, benchmarks_dir: Path) -> None:
    """Drop a suite of the same name from another folder, which Python would hand out again."""
    loaded = sys.modules.get(root)
    if loaded is not None and str(benchmarks_dir) not in list(getattr(loaded, "__path__", [])):
        for name in [each for each in sys.modules if each == root or each.startswith(f"{root}.")]:
            del sys.modules[name]


def one_line(error: BaseException) -> str:
    """Return what went wrong and in which line of whose file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if len(frames) > 1 else ""
    return said(error) + where
