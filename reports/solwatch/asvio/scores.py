"""SOL score and time of each cell over the commits of each card, taken from the graphs that asv publishes."""

import itertools
import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from solwatch.asvio.levels import Level, changes
from solwatch.model.history import LimitRow
from solwatch.model.plain import plain

GAP = ".track_sol_gap"
"""Benchmarks of this name hold T / T_SOL; the page shows its inverse, the SOL score."""

TIME = ".track_time"
"""Benchmarks of this name hold the same cells' times, in seconds."""

LEAST_CHANGE = 0.02
"""Change of a level that is shown: 2 %, as ``solwatch history changes`` has it."""

_DIGITS = 5
_UNTOLD = ("machine", "os", "arch", "cpu", "num_cpu", "ram")
"""What asv says of a machine and a reader knows by its name."""

Params = tuple[tuple[str, Any], ...]
Series = list[float | None]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a cell's score: between the results at ``good`` and ``bad``, positions in ``Card.revisions``."""

    good: int
    bad: int
    before: float
    after: float


class CardCell(msgspec.Struct, frozen=True, kw_only=True):
    """One cell on one card; ``scores`` (SOL score) and ``times_s`` (seconds) by position in ``Card.revisions``.

    ``name``: safe to show. ``benchmark``: asv's name, for links. ``values``: of its parameters, by the parameter's
    name. ``work``: FLOPs, bytes and limits where they are known.
    """

    name: str
    benchmark: str
    values: dict[str, str]
    scores: Series
    times_s: Series
    changes: list[Change]
    work: LimitRow | None


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One card, or what asv draws as a graph of its own: another driver, another branch; ``label``: safe to show."""

    label: str
    machine: str
    params: dict[str, str | None]
    revisions: list[int]
    cells: list[CardCell]


def cards(graphs: Any, benchmarks: Mapping[str, Any], limits: Sequence[LimitRow]) -> list[Card]:
    """Return the cards that have scores, by name; ``graphs``: asv's ``GraphSet``, its steps detected."""
    by_place: dict[Params, dict[str, Any]] = {}
    for _, graph in graphs:
        name = graph.benchmark_name
        if "summary" not in graph.params and name in benchmarks and name.endswith((GAP, TIME)):
            by_place.setdefault(tuple(sorted(graph.params.items(), key=str)), {})[name] = graph
    known = {(row.machine, row.benchmark, *row.params): row for row in limits}
    labels = _labels(by_place, limits)
    made = [_card(place, labels[place], found, benchmarks, known) for place, found in by_place.items()]
    return sorted((card for card in made if card.cells), key=lambda card: card.label)


def _card(
    place: Params,
    label: str,
    graphs: Mapping[str, Any],
    benchmarks: Mapping[str, Any],
    known: Mapping[tuple[str, ...], LimitRow],
) -> Card:
    data = {name: graph.get_data() for name, graph in graphs.items()}
    revisions = sorted({point[0] for name, points in data.items() if name.endswith(GAP) for point in points})
    positions = {revision: at for at, revision in enumerate(revisions)}
    params = dict(place)
    machine = str(params.get("machine"))
    cells: list[CardCell] = []
    for name in sorted(name for name in graphs if name.endswith(GAP)):
        start = name.removesuffix(GAP)
        combinations = list(itertools.product(*benchmarks[name]["params"]))
        gaps = _columns(data[name], positions, len(combinations))
        timed = start + TIME in data and benchmarks[start + TIME]["params"] == benchmarks[name]["params"]
        empty = [[None] * len(positions)] * len(combinations)
        times = _columns(data[start + TIME], positions, len(combinations)) if timed else empty
        steps = graphs[name].get_steps() if benchmarks[name]["params"] else [graphs[name].get_steps()]
        for at, values in enumerate(combinations):
            if any(gap is not None for gap in gaps[at]):
                names = zip(benchmarks[name]["param_names"], values, strict=False)
                cell = CardCell(
                    name=plain(f"{start}({', '.join(values)})" if values else start),
                    benchmark=name,
                    values=dict(names),
                    scores=[_rounded(1 / gap) if gap else None for gap in gaps[at]],
                    times_s=[_rounded(time_s) for time_s in times[at]],
                    changes=list(_changes(steps[at], gaps[at], revisions)),
                    work=known.get((machine, start, *values)),
                )
                cells.append(cell)
    return Card(label=label, machine=machine, params=params, revisions=revisions, cells=cells)


def _columns(points: Sequence[tuple[int, Any, Any]], positions: Mapping[int, int], count: int) -> list[Series]:
    """Return one series of positive values for each combination of parameters."""
    columns: list[Series] = [[None] * len(positions) for _ in range(count)]
    for revision, values, _ in points:
        at = positions.get(revision)
        if at is None:
            continue
        for column, value in zip(columns, values if isinstance(values, list) else [values], strict=False):
            if isinstance(value, int | float) and value > 0 and math.isfinite(value) and math.isfinite(1.0 / value):
                column[at] = float(value)
    return columns


def _changes(
    steps: Sequence[tuple[int, int, float, float, float]], gaps: Series, revisions: Sequence[int]
) -> Iterator[Change]:
    """Yield the changes of one cell, from steps between revisions of which some have no result."""
    measured = [at for at, gap in enumerate(gaps) if gap is not None]
    known = [revisions[at] for at in measured]
    levels = [Level(bisect_left(known, left), bisect_left(known, right), *rest) for left, right, *rest in steps]
    for earlier, later in changes(levels, LEAST_CHANGE):
        before, after = _rounded(1 / earlier.value), _rounded(1 / later.value)
        assert before is not None
        assert after is not None
        yield Change(good=measured[earlier.end - 1], bad=measured[later.start], before=before, after=after)


def _labels(places: Mapping[Params, Any], limits: Sequence[LimitRow]) -> dict[Params, str]:
    """Return a name for each card: machine, model, and whatever else tells it from the others of that machine."""
    models = {row.machine: row.model for row in limits}
    labels = {}
    for place in places:
        params = dict(place)
        machine = str(params.get("machine"))
        others = [dict(other) for other in places if dict(other).get("machine") == params.get("machine")]
        telling = [
            f"{name} {value}"
            for name, value in place
            if name not in _UNTOLD and any(other.get(name) != value for other in others)
        ]
        model = params.get("gpu") or models.get(machine)
        labels[place] = plain(" · ".join([machine, *([str(model)] if model else []), *telling]), 200)
    return labels


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")
