"""The checks that Python makes, so that a wrong call is a TypeError or a ValueError.

The operator makes them all again in C++, and when it runs the ones about memory only there: reading
an address in Python would break ``torch.compile(fullgraph=True)``. The fake kernels make all but the
one about gradients, whose mode a trace need not know.
"""

from __future__ import annotations

import torch
from torch import Tensor

from fused_o_proj._build import build_info

DTYPES = (torch.bfloat16, torch.float16, torch.float32)
HAS_CUDA_KERNELS = build_info()["kind"] == "cuda"


def check_tensor(name: str, tensor: object) -> None:
    """Raise TypeError unless ``tensor`` is a tensor of a served dtype."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} is a {type(tensor).__name__}, wanted a torch.Tensor")
    if tensor.dtype not in DTYPES:
        raise TypeError(f"{name} has dtype {tensor.dtype}, wanted bfloat16, float16 or float32")


def check_like(name: str, tensor: Tensor, attn_output: Tensor) -> None:
    """Raise TypeError (dtype) or ValueError (device) unless ``tensor`` is like ``attn_output``."""
    if tensor.dtype != attn_output.dtype:
        raise TypeError(f"{name} has dtype {tensor.dtype}, wanted {attn_output.dtype}, the dtype of attn_output")
    if tensor.device != attn_output.device:
        raise ValueError(f"{name} is on {tensor.device}, wanted {attn_output.device}, the device of attn_output")


def check_device(attn_output: Tensor) -> None:
    """Raise ValueError unless this build has kernels for the device of ``attn_output``."""
    device_type = attn_output.device.type
    if device_type == "cuda" and not HAS_CUDA_KERNELS:
        raise ValueError(
            f"attn_output is on {attn_output.device}, wanted cpu: this build of fused_o_proj has no "
            "CUDA kernels (it was made without nvcc; FUSED_O_PROJ_CUDA=1 insists on them)"
        )
    if device_type not in ("cpu", "cuda", "meta"):
        raise ValueError(f"attn_output is on {attn_output.device}, wanted cpu or cuda")


def check_shapes(attn_output: Tensor, residual: Tensor, o_proj_weight: Tensor) -> None:
    """Raise ValueError unless the sizes are [..., K], [..., N] and [N, K]."""
    if attn_output.dim() < 1:
        raise ValueError("attn_output has shape (), wanted at least one dimension (..., K)")
    if o_proj_weight.dim() != 2 or o_proj_weight.shape[1] != attn_output.shape[-1]:
        raise ValueError(
            f"o_proj_weight has shape {tuple(o_proj_weight.shape)}, wanted (N, "
            f"{attn_output.shape[-1]}) for attn_output {tuple(attn_output.shape)}"
        )
    check_output_shape("residual", residual, attn_output, o_proj_weight)


def check_output_shape(name: str, tensor: Tensor, attn_output: Tensor, o_proj_weight: Tensor) -> None:
    """Raise ValueError unless ``tensor`` is [leading sizes of attn_output..., N]."""
    wanted = (*attn_output.shape[:-1], o_proj_weight.shape[0])
    if tuple(tensor.shape) != wanted:
        raise ValueError(
            f"{name} has shape {tuple(tensor.shape)}, wanted {tuple(wanted)} (the leading sizes of "
            f"attn_output {tuple(attn_output.shape)} and the rows of o_proj_weight "
            f"{tuple(o_proj_weight.shape)})"
        )


def check_no_grad(name: str, tensor: Tensor) -> None:
    """Raise RuntimeError when, under grad mode, a backward pass would be wanted through ``tensor``."""
    if tensor.requires_grad:
        raise RuntimeError(
            f"{name} requires grad, wanted none: o_proj_residual is for inference and has no "
            "backward. Call it under torch.no_grad() or torch.inference_mode(), or detach."
        )


def check_arguments(attn_output: Tensor, residual: Tensor, o_proj_weight: Tensor, out: Tensor | None) -> None:
    """Raise TypeError or ValueError for dtypes, devices and shapes that the operator can't serve."""
    for name, tensor in _named(attn_output, residual, o_proj_weight, out):
        check_tensor(name, tensor)
        check_like(name, tensor, attn_output)
    check_device(attn_output)
    check_shapes(attn_output, residual, o_proj_weight)
    if out is not None:
        check_output_shape("out", out, attn_output, o_proj_weight)


def check_call(attn_output: Tensor, residual: Tensor, o_proj_weight: Tensor, out: Tensor | None) -> None:
    """Raise TypeError, ValueError or RuntimeError for a call that the operator can't serve."""
    check_arguments(attn_output, residual, o_proj_weight, out)
    if torch.is_grad_enabled():
        for name, tensor in _named(attn_output, residual, o_proj_weight, out):
            check_no_grad(name, tensor)


def _named(
    attn_output: Tensor, residual: Tensor, o_proj_weight: Tensor, out: Tensor | None
) -> list[tuple[str, Tensor]]:
    named = [("attn_output", attn_output), ("residual", residual), ("o_proj_weight", o_proj_weight)]
    return named if out is None else [*named, ("out", out)]
