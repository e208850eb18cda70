"""Columns of a round: nested lists, cell by cell, side by side, block by block, short where values repeat."""

from collections.abc import Sequence
from typing import Any

Number = float | None
NumberPerSide = Number | list[Number | list[Number]]
NumberPerBlock = Number | list[Number | list[Number | list[Number]]]
Text = str | None
TextPerSide = Text | list[Text | list[Text]]
TextPerBlock = Text | list[Text | list[Text | list[Text]]]

SIDES = 2
"""Head, then base."""


def folded(column: Any) -> Any:
    """Return ``column`` with every list of equal plain values replaced by that value, from the inside out.

    An empty list becomes ``None``.
    """
    if not isinstance(column, list):
        return column
    parts = [folded(part) for part in column]
    if not parts:
        return None
    if not isinstance(parts[0], list) and all(part == parts[0] for part in parts):
        return parts[0]
    return parts


def per_side(column: Any, cells: int) -> list[list[Any]]:
    """Return a folded column as ``[cell][side]``; raises ``ValueError`` when it isn't one of ``cells`` cells."""
    return [_unfolded(sides, SIDES, "sides") for sides in _unfolded(column, cells, "cells")]


def per_block(column: Any, counts: Sequence[Sequence[int]]) -> list[list[list[Any]]]:
    """Return a folded column as ``[cell][side][block]``; ``counts``: how many blocks, ``[cell][side]``.

    Raises ``ValueError`` when the column has another shape.
    """
    return [
        [_unfolded(blocks, count, "blocks") for blocks, count in zip(sides, sides_counts, strict=True)]
        for sides, sides_counts in zip(per_side(column, len(counts)), counts, strict=True)
    ]


def _unfolded(value: Any, length: int, what: str) -> list[Any]:
    if not isinstance(value, list):
        return [value] * length
    if len(value) != length:
        raise ValueError(f"a column has {len(value)} {what}, wanted {length}")
    return value
