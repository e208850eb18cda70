"""The checks about memory for the fake kernels, by storage and strides as overlap.cpp makes them by address.

Without them a compiled call would be traced with an ``out`` that the operator refuses. Sizes that
are symbols stay unjudged, since asking would fix them; the operator checks those when it runs.
"""

from __future__ import annotations

from torch import Tensor


def check_memory(attn_output: Tensor, residual: Tensor, o_proj_weight: Tensor, out: Tensor) -> None:
    """Raise RuntimeError when ``out`` shares memory with itself or an input; it may be ``residual`` itself."""
    if not _is_static(out):
        return
    if _overlaps_itself(out):
        raise RuntimeError("out has elements that share memory (an expanded view?), wanted one place for each")
    for name, tensor in (("attn_output", attn_output), ("o_proj_weight", o_proj_weight), ("residual", residual)):
        if not (_share_a_storage(tensor, out) and _is_static(tensor)):
            continue
        is_in_place = name == "residual" and _layout(tensor) == _layout(out)
        if not is_in_place and _overlap(tensor, out):
            raise RuntimeError(f"out shares memory with {name}, wanted memory of its own (or exactly residual)")


def _share_a_storage(a: Tensor, b: Tensor) -> bool:
    return bool(a.untyped_storage()._cdata == b.untyped_storage()._cdata)


def _is_static(tensor: Tensor) -> bool:
    return all(isinstance(number, int) for number in (*tensor.shape, *tensor.stride(), tensor.storage_offset()))


def _layout(tensor: Tensor) -> tuple[int, list[tuple[int, int]]]:
    """Return the offset and (stride, size) of the dimensions with more than one index, outermost first."""
    dims = zip(tensor.stride(), tensor.shape, strict=True)
    return int(tensor.storage_offset()), [(stride, size) for stride, size in dims if size != 1]


def _overlaps_itself(tensor: Tensor) -> bool:
    if tensor.numel() == 0:
        return False
    reach = 0
    for stride, size in sorted(_layout(tensor)[1]):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def _overlap(a: Tensor, b: Tensor) -> bool:
    if a.numel() == 0 or b.numel() == 0:
        return False
    is_apart = _end(a) <= b.storage_offset() or _end(b) <= a.storage_offset()
    return not (is_apart or _are_columns(a, b))


def _end(tensor: Tensor) -> int:
    offset, dims = _layout(tensor)
    return offset + sum(stride * (size - 1) for stride, size in dims) + 1


def _are_columns(a: Tensor, b: Tensor) -> bool:
    """Tell two bands of columns of one buffer: the same row stride, and modulo it they never meet."""
    row_stride = _row_stride(a)
    if row_stride <= 0 or row_stride != _row_stride(b):
        return False
    distance = (b.storage_offset() - a.storage_offset()) % row_stride
    return a.shape[-1] <= distance and distance + b.shape[-1] <= row_stride


def _row_stride(tensor: Tensor) -> int:
    rows = [stride for stride, size in zip(tensor.stride()[:-1], tensor.shape[:-1], strict=True) if size > 1]
    return rows[-1] if rows else tensor.shape[-1]
