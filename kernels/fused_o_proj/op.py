"""The operator's Python face: the checked function, its fake kernels and ``explain``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fused_o_proj._arguments import check_arguments, check_call, check_shapes
from fused_o_proj._memory import check_memory
from fused_o_proj._native import OPS
from fused_o_proj.gpu import Gpu, checked_alignment

__all__ = ["explain", "o_proj_residual"]


def o_proj_residual(
    attn_output: Tensor,
    residual: Tensor,
    o_proj_weight: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return ``attn_output @ o_proj_weight.T + residual``, rounded once.

    Shapes: ``attn_output[..., K]``, ``residual[..., N]``, ``o_proj_weight[N, K]`` and
    ``out[..., N]``, all of one dtype (bfloat16, float16 or float32) on one device. Strides may be
    anything; unit inner strides are read in place. Sums are kept in float32. ``out``, when given,
    is written and returned; it may be ``residual`` itself, and must share memory with nothing else.
    Autocast changes nothing. For inference only: tangents of forward-mode differentiation are lost.

    Raises TypeError (not a tensor, dtype), ValueError (device, shape), RuntimeError (an input that
    requires grad under grad mode, overlapping memory, a failed launch; torch.OutOfMemoryError is
    one). Nothing is written then.
    """
    check_call(attn_output, residual, o_proj_weight, out)
    try:
        if out is None:
            result: Tensor = OPS.o_proj_residual.default(attn_output, residual, o_proj_weight)
            return result
        OPS.o_proj_residual.out(attn_output, residual, o_proj_weight, out=out)
    except RuntimeError as error:
        if ": allocating " in str(error):
            _allocate_again(attn_output, residual, o_proj_weight)
        raise
    return out


def _allocate_again(attn_output: Tensor, residual: Tensor, o_proj_weight: Tensor) -> None:
    """Ask torch for the memory that the operator did not get: the stable ABI loses the type of torch's error."""
    _ = [residual.new_empty(residual.shape), *(t.contiguous() for t in (attn_output, residual, o_proj_weight))]


@torch.library.register_fake("fused_o_proj::o_proj_residual")  # type: ignore[untyped-decorator]
def _(attn_output: Tensor, residual: Tensor, o_proj_weight: Tensor) -> Tensor:
    check_arguments(attn_output, residual, o_proj_weight, None)
    return residual.new_empty(residual.shape)


@torch.library.register_fake("fused_o_proj::o_proj_residual.out")  # type: ignore[untyped-decorator]
def _(attn_output: Tensor, residual: Tensor, o_proj_weight: Tensor, *, out: Tensor) -> None:
    check_arguments(attn_output, residual, o_proj_weight, out)
    check_memory(attn_output, residual, o_proj_weight, out)


def explain(
    shapes: Sequence[Sequence[int]],
    dtype: torch.dtype,
    device: torch.device | str | Gpu,
    *,
    alignment_bytes: Sequence[int] = (0, 0, 0, 0),
) -> dict[str, Any]:
    """Tell what a call would run, from the dispatch that launches it.

    ``shapes`` are those of attn_output [..., K], residual [..., N] and o_proj_weight [N, K].
    ``device`` may be a ``Gpu`` that is not in this machine; then ``alignment_bytes`` says at which
    multiples (2, 4, 8 or 16) the rows of attn_output, residual, weight and out begin, 0: as in a
    contiguous tensor, which is what other devices are told about.

    Returns ``kernel``, ``tile`` ([tokens, output features, input features of a stage] or None),
    ``split_k`` (CTAs that share a tile along K), ``warps_k`` (groups of warps of a CTA that share
    a stage along K), ``stages``, ``threads`` (of a CTA), ``ctas``, ``workspace_bytes``
    (memory that a split takes from torch's pool for the launch), ``reason`` (why this kernel) and
    ``slower`` (what keeps the call from full speed, or None). Kernel "none" launches nothing: out
    is empty.

    Raises ValueError for shapes that don't fit together or alignments that can't be, RuntimeError
    for a dtype, device or build that can't serve them.
    """
    attn_shape, residual_shape, weight_shape = (tuple(shape) for shape in shapes)
    fakes = [torch.empty(s, device="meta") for s in (attn_shape, residual_shape, weight_shape)]
    check_shapes(*fakes)
    sizes = fakes[0].shape[:-1].numel(), weight_shape[0], weight_shape[1]
    if isinstance(device, Gpu):
        text: str = OPS.explain_gpu(*sizes, dtype, *checked_alignment(alignment_bytes), *device.facts())
    else:
        text = OPS.explain(*sizes, dtype, _indexed(torch.device(device)))
    plan: dict[str, Any] = json.loads(text)
    return plan


def _indexed(device: torch.device) -> torch.device:
    """``cuda`` without an index is the current device."""
    if device.type == "cuda" and device.index is None and torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())
    return device
