"""Change points: the steps of many cells as the few places in history that explain them, each with a lasting id."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from solwatch.model.history import CellStep, ChangePoint, Reported
from solwatch.workspace.rows import merged_rows

REPORTED = "changes.jsonl"
"""The file of those that were reported, below the folder of results."""

SLACK = 2
"""Commits by which a place that was reported may have moved: asv's detection shifts a step as results come in."""

_ID_DIGITS = 12


@dataclass(frozen=True)
class _Place:
    """Steps of one machine in one direction that one commit explains: it lies after ``good``, not after ``bad``."""

    machine: str
    direction: str
    steps: tuple[CellStep, ...]
    good: str
    bad: str


def change_points(
    steps: Mapping[str, Sequence[CellStep]],
    order: Mapping[str, int],
    reported: Iterable[Reported],
    *,
    least_change: float,
) -> list[ChangePoint]:
    """Return the change points, oldest first, those that were reported before under their ids.

    ``steps`` by machine. A place is known by an id once it has been reported, and has it for good: another is the
    same one when machine and direction are the same and their ranges of commits overlap, or lie at most ``SLACK``
    commits apart and share a cell. The id of a new place is a digest of machine, direction and its first bad commit.
    """
    places = [place for machine, found in sorted(steps.items()) for place in _places(machine, found, order)]
    ids = _ids(places, list(reported), order)
    points = [_point(place, ids[index], least_change) for index, place in enumerate(places)]
    return sorted(points, key=lambda point: (order[point.bad], point.machine, point.direction))


def as_reported(point: ChangePoint, now: str) -> Reported:
    """Return what is remembered of a change point."""
    cells = list(dict.fromkeys(step.cell for step in point.cells))
    return Reported(
        id=point.id,
        machine=point.machine,
        direction=point.direction,
        good=point.good,
        bad=point.bad,
        cells=cells,
        reported_at=now,
    )


def joined_reported(first: Iterable[Reported], second: Iterable[Reported]) -> list[Reported]:
    """Return the rows of both, each id once: as ``first`` has it, where both do."""
    return merged_rows(first, second, key=lambda row: (row.id,))


def direction(step: CellStep) -> str:
    """Return ``slower`` or ``faster``."""
    return "slower" if step.after > step.before else "faster"


def _places(machine: str, steps: Sequence[CellStep], order: Mapping[str, int]) -> list[_Place]:
    """Return the fewest places that explain all steps: each takes every step whose range holds its first bad commit."""
    places = []
    for way in ("slower", "faster"):
        left = sorted((step for step in steps if direction(step) == way), key=lambda step: order[step.bad])
        while left:
            at = order[left[0].bad]
            together = [step for step in left if order[step.good] < at]
            left = [step for step in left if order[step.good] >= at]
            good = max((step.good for step in together), key=order.__getitem__)
            places.append(_Place(machine, way, tuple(together), good, together[0].bad))
    return places


def _ids(places: Sequence[_Place], reported: list[Reported], order: Mapping[str, int]) -> dict[int, str]:
    """Return the id of each place: of those that overlap first, then of those that lie near, then new ones."""
    pairs = sorted(
        (apart, index, known.id)
        for index, place in enumerate(places)
        for known in reported
        if (apart := _apart(place, known, order)) is not None
    )
    ids: dict[int, str] = {}
    for _, index, known_id in pairs:
        if index not in ids and known_id not in ids.values():
            ids[index] = known_id
    taken = {known.id for known in reported}
    for index, place in enumerate(places):
        if index not in ids:
            ids[index] = _new_id(place, taken)
            taken.add(ids[index])
    return ids


def _apart(place: _Place, known: Reported, order: Mapping[str, int]) -> int | None:
    """Return how many commits lie between a place and one that was reported, ``None`` where it is another one."""
    if (place.machine, place.direction) != (known.machine, known.direction):
        return None
    if known.good not in order or known.bad not in order:
        return 0 if place.bad == known.bad else None
    apart = max(order[place.good] + 1 - order[known.bad], order[known.good] + 1 - order[place.bad], 0)
    shared = {step.cell for step in place.steps} & set(known.cells)
    return apart if apart == 0 or (apart <= SLACK and shared) else None


def _new_id(place: _Place, taken: set[str]) -> str:
    made = f"{place.machine}\0{place.direction}\0{place.bad}"
    while (digest := hashlib.sha256(made.encode()).hexdigest()[:_ID_DIGITS]) in taken:
        made += "\0"  # a place that was reported has moved away from its first bad commit, and this one is there now
    return digest


def _point(place: _Place, known_as: str, least_change: float) -> ChangePoint:
    largest_first = sorted(
        place.steps, key=lambda step: (-max(step.slowdown_ratio, 1 / step.slowdown_ratio), step.cell, step.benchmark)
    )
    return ChangePoint(
        id=known_as,
        machine=place.machine,
        direction=place.direction,
        good=place.good,
        bad=place.bad,
        cells=largest_first,
        persists=any(_persists(step, place.direction, least_change) for step in place.steps),
    )


def _persists(step: CellStep, way: str, least_change: float) -> bool:
    latest_ratio = step.latest / step.before
    return latest_ratio > 1 + least_change if way == "slower" else latest_ratio < 1 - least_change
