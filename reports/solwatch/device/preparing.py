"""What both devices do with a cell before it is timed: poison its output, call it once, check the result."""

import math
from collections.abc import Mapping
from typing import Any

import torch

from solwatch.model.cell import Cell


def poison(tensors: Mapping[str, Any]) -> bool:
    """Fill the tensor named ``out`` with NaN (integers: their least value), so that an unwritten element shows.

    An ``out`` whose memory overlaps another tensor's is an input too and is left alone. Returns whether there was
    something to fill.
    """
    out = tensors.get("out")
    if not isinstance(out, torch.Tensor):
        return False
    others = (value for name, value in tensors.items() if name != "out" and isinstance(value, torch.Tensor))
    if any(_overlap(out, value) for value in others):
        return False
    if out.dtype.is_floating_point or out.dtype.is_complex:
        out.fill_(math.nan)
    elif out.dtype == torch.bool:
        out.fill_(True)
    else:
        out.fill_(torch.iinfo(out.dtype).min)
    return True


def _overlap(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Return whether the bytes between first and last element overlap; all tensors of a pool share its storage."""
    (one_start, one_end), (two_start, two_end) = _bytes(one), _bytes(two)
    return one_start < two_end and two_start < one_end


def _bytes(tensor: torch.Tensor) -> tuple[int, int]:
    if tensor.numel() == 0:
        return 0, 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    start = tensor.data_ptr()
    return start, start + (last + 1) * tensor.element_size()


def first_call(cell: Cell, tensors: Mapping[str, Any], *, check: bool) -> None:
    """Call the cell once on ``tensors`` with its output poisoned and check the result if asked.

    Raises what the cell raises: ``AssertionError`` when the result is wrong.
    """
    poison(tensors)
    with torch.no_grad():
        cell.call(**tensors)
        if check:
            cell.check(**tensors)
