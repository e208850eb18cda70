"""The site's "Speed of light" page: for each layer how far its kernel is from the hardware's limit, and its history."""

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from asv.console import log
from asv.publishing import OutputPublisher
from asv.results import Results, iter_results_paths
from asv.util import UserError, is_na

from solwatch.model.plain import plain

PAGE = "speedoflight"
"""Name of the page: the part of its address behind ``#/``."""

GAP = ".track_sol_gap"
"""Benchmarks of this name hold T / T_SOL; the page shows its inverse, the SOL score."""

_Gaps = list[tuple[str, tuple[str, ...], float]]
"""Benchmark, values of its parameters, gap."""

_DAMAGED = (UserError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError, OSError)
"""What asv's readers raise at a file that isn't whole."""

_SITE = Path(__file__).with_name("site")
_NAVIGATION = '<li id="nav-li-graphdisplay">'
_BODY = '<div id="graph-display"'
_HEAD = "</head>"


class SpeedOfLight(OutputPublisher):  # type: ignore[misc]  # asv is published without types
    """Adds the page to what ``asv publish`` writes; asv finds this class by its base."""

    name = PAGE
    button_label = "Speed of light"
    description = "How far each kernel is from the limit of its hardware"
    order = 2

    @classmethod
    def publish(cls, conf: Any, repo: Any, benchmarks: Any, graphs: Any, revisions: Mapping[str, int]) -> None:
        """Write the page's data and script into ``conf.html_dir`` and enter it into index.html.

        Raises asv's ``UserError`` when index.html isn't of the form this was written for.
        """
        html = Path(conf.html_dir)
        data = {"tables": list(tables(Path(conf.results_dir), benchmarks, revisions))}
        (html / f"{PAGE}.json").write_text(json.dumps(data), encoding="utf-8")
        for name in (f"{PAGE}.js", f"{PAGE}.css"):
            (html / name).write_text((_SITE / name).read_text(encoding="utf-8"), encoding="utf-8")
        index = html / "index.html"
        index.write_text(_entered(index.read_text(encoding="utf-8")), encoding="utf-8")


def tables(results_dir: Path, benchmarks: Mapping[str, Any], revisions: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield one table for each machine and benchmark with scores.

    Rows are the values of the parameter ``layer`` (the last one when none has that name), columns those of the
    others together. A cell is its history, ``[revision, score]`` by revision, each commit once; a score is
    T_SOL / T in (0, 1]. All text is the suite's own: it is escaped where it is shown. A file that isn't whole is left
    out with a warning, as asv does with what it can't parse.
    """
    histories: dict[tuple[str, str], dict[tuple[str, ...], dict[int, float]]] = {}
    for revision, machine, gaps in _histories(results_dir, benchmarks, revisions):
        for name, values, gap in gaps:
            histories.setdefault((machine, name), {}).setdefault(values, {})[revision] = 1.0 / gap
    for (machine, name), cells in sorted(histories.items()):
        if cells:
            yield _table(machine, name, benchmarks[name], cells)


def _histories(
    results_dir: Path, benchmarks: Mapping[str, Any], revisions: Mapping[str, int]
) -> Iterator[tuple[int, str, _Gaps]]:
    """Yield revision, machine and gaps of each file of results that is whole."""
    for folder in sorted(path for path in results_dir.iterdir() if path.is_dir()):
        try:
            found = list(iter_results_paths(str(folder)))
        except _DAMAGED as error:
            log.warning(f"Skipping results: {folder / 'machine.json'} can't be read ({error})")
            continue
        for root, filename, machine in found:
            path = Path(root) / filename
            try:
                results = Results.load(str(path), machine_name=machine)
                revision = revisions.get(results.commit_hash)
                gaps = _gaps(results, benchmarks) if revision is not None else []
                machine = str(results.params["machine"])
            except _DAMAGED as error:
                log.warning(f"Skipping results: {path} can't be read ({error})")
                continue
            if revision is not None:
                yield revision, machine, gaps


def _gaps(results: Results, benchmarks: Mapping[str, Any]) -> _Gaps:
    gaps = []
    for name in sorted(results.get_result_keys(benchmarks)):
        if name.endswith(GAP):
            params = benchmarks[name]["params"]
            for values, gap in zip(itertools.product(*params), results.get_result_value(name, params), strict=True):
                if not is_na(gap) and gap > 0 and math.isfinite(1.0 / gap):
                    gaps.append((name, values, gap))
    return gaps


def _table(
    machine: str, name: str, benchmark: Mapping[str, Any], cells: Mapping[tuple[str, ...], Mapping[int, float]]
) -> dict[str, Any]:
    names, params = benchmark["param_names"], benchmark["params"]
    row_axis = names.index("layer") if "layer" in names else len(names) - 1
    column_names = [each for axis, each in enumerate(names) if axis != row_axis]
    rows = params[row_axis] if params else [""]
    columns = list(itertools.product(*(each for axis, each in enumerate(params) if axis != row_axis)))
    return {
        "machine": machine,
        "benchmark": name,
        "title": name.removesuffix(GAP),
        "row_name": plain(names[row_axis]) if names else "",
        "column_name": plain(", ".join(column_names)),
        "columns": [", ".join(map(_unquoted, column)) for column in columns],
        "rows": [
            {
                "name": _unquoted(row),
                "cells": [sorted(cells.get(_place(column, row, row_axis, names), {}).items()) for column in columns],
            }
            for row in rows
        ],
    }


def _place(column: tuple[str, ...], row: str, row_axis: int, names: list[str]) -> tuple[str, ...]:
    return (*column[:row_axis], row, *column[row_axis:]) if names else ()


def _unquoted(name: str) -> str:
    """Return a value's name, safe to show, without the quotes that ``repr`` puts around text."""
    return plain(name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"" else name)


def _entered(page: str) -> str:
    """Return index.html with the page's entry, place and script."""
    additions = {
        _NAVIGATION: f'<li id="nav-li-{PAGE}"><a href="#/{PAGE}">Speed of light</a></li>\n        ',
        _BODY: f'<div id="{PAGE}-display" class="{PAGE}" style="display: none"></div>\n    ',
        _HEAD: f'  <script src="{PAGE}.js"></script>\n    <link href="{PAGE}.css" rel="stylesheet">\n  ',
    }
    for mark, addition in additions.items():
        if page.count(mark) != 1:
            raise UserError(f"the speed-of-light page can't be entered: asv's index.html has no single {mark!r}")
        page = page.replace(mark, addition + mark)
    return page
