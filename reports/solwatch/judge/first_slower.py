"""The search for the first slower commit of a history: what is left to suspect, and what to measure next.

Nothing here measures: a history is commits and what each is built from, a standing is what a gate against the first
of them said. Branches and merges are allowed; a straight line is the special case in which every commit has one parent.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from solwatch.model.strings import StrEnum


class Standing(StrEnum):
    """What is known of a commit against the first one; one that nothing can be said of is ``UNTESTABLE``."""

    GOOD = "good"
    SLOWER = "slower"
    UNTESTABLE = "untestable"


@dataclass(frozen=True)
class Line:
    """Commits by number, parents before children: the first is good, the last is slower, all others lie between.

    ``keys``: what each commit builds and measures; commits of one key are one candidate. ``parents``: those of the
    numbers that the commit has for a parent, none for the first.
    """

    keys: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    @cached_property
    def ancestors(self) -> tuple[int, ...]:
        """For each commit, itself and all before it, as bits."""
        found: list[int] = []
        for number, parents in enumerate(self.parents):
            bits = 1 << number
            for parent in parents:
                bits |= found[parent]
            found.append(bits)
        return tuple(found)

    @cached_property
    def changing(self) -> int:
        """The commits, as bits, that build or measure something else than each parent: no other can be at fault."""
        bits = 0
        for number, parents in enumerate(self.parents):
            if number and self.keys[number] not in {self.keys[parent] for parent in parents}:
                bits |= 1 << number
        return bits

    def precedes(self, earlier: int, later: int) -> bool:
        """Return whether ``later`` descends from ``earlier``; a commit does from itself."""
        return bool(self.ancestors[later] >> earlier & 1)


@dataclass(frozen=True)
class Narrowed:
    """How far the search is.

    ``suspects``: the commits one of which is at fault, in order; the last is ``slower``, the earliest known to be it.
    ``good``: the latest known to be good before them. ``following``: the commit to measure next, ``None`` when
    measuring narrows it no further. ``given_up``: whether that is for too many commits that nothing can be said of.
    """

    suspects: tuple[int, ...]
    slower: int
    good: int
    following: int | None
    given_up: bool = False

    @property
    def gates_left(self) -> int:
        """How many more gates it takes when each of them decides."""
        return math.ceil(math.log2(len(self.suspects))) if self.following is not None else 0


def narrowed(line: Line, standings: Mapping[str, Standing], most_untestable: int) -> Narrowed:
    """Return what is left to suspect under ``standings`` (by key; those of the first and the last are there).

    A history that slows down once is assumed: then the commit at fault is among the suspects, whatever could not be
    tested. With ``most_untestable`` untestable commits among them the search is given up.
    """
    standing = [standings.get(key) for key in line.keys]
    slower = _earliest_slower(line, standing)
    before = line.ancestors[slower]
    good = [number for number in _numbers(before) if standing[number] is Standing.GOOD]
    cleared = 0
    for number in good:
        cleared |= line.ancestors[number]
    left = before & ~cleared & line.changing
    suspects = tuple(_numbers(left))
    untestable = [number for number in suspects if standing[number] is Standing.UNTESTABLE]
    open_ = [number for number in suspects if standing[number] is None]
    given_up = bool(open_) and len(untestable) >= most_untestable
    following = None if given_up or not open_ else _halving(line, left, open_, untestable)
    return Narrowed(suspects=suspects, slower=slower, good=good[-1], following=following, given_up=given_up)


def returns(line: Line, standings: Mapping[str, Standing]) -> list[tuple[int, int]]:
    """Return (slower, good) for each good commit that descends from a slower one, with the latest such one."""
    standing = [standings.get(key) for key in line.keys]
    slower = [number for number, each in enumerate(standing) if each is Standing.SLOWER]
    found = []
    for number in _numbers(line.changing):
        before = [other for other in slower if line.precedes(other, number)]
        if standing[number] is Standing.GOOD and before:
            found.append((before[-1], number))
    return found


def _earliest_slower(line: Line, standing: list[Standing | None]) -> int:
    """Return the first slower commit with none before it: with shared keys there may be several."""
    return next(number for number, each in enumerate(standing) if each is Standing.SLOWER)


def _halving(line: Line, left: int, open_: list[int], untestable: list[int]) -> int:
    """Return the open commit that splits the suspects best, some way off those that could not be tested.

    Commits that don't build come in stretches: next to one of them lies probably another.
    """
    count = left.bit_count()
    place = {number: (line.ancestors[number] & left).bit_count() for number in [*open_, *untestable]}

    def split(number: int) -> int:
        off = min((abs(place[number] - place[other]) for other in untestable), default=count)
        return min(place[number], count - place[number], 2 * off)

    return max(open_, key=lambda number: (split(number), -number))


def _numbers(bits: int) -> list[int]:
    return [number for number, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"]
