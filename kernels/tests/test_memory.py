"""Where inputs and outputs may lie: dimensions, strides, emptiness, aliasing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fused_o_proj import o_proj_residual
from fused_o_proj.reference import check


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 1, 3), (1, 1)])
def test_leading_dimensions(leading: tuple[int, ...], dtype: torch.dtype, device: torch.device, seed: int) -> None:
    torch.manual_seed(seed)
    attn = torch.randn(*leading, 24, device=device).to(dtype)
    residual = torch.randn(*leading, 40, device=device).to(dtype)
    weight = torch.randn(40, 24, device=device).to(dtype)
    out = torch.full_like(residual, float("nan"))
    for actual in (o_proj_residual(attn, residual, weight), o_proj_residual(attn, residual, weight, out=out)):
        assert actual.shape == residual.shape
        assert actual.is_contiguous()
        check(actual, attn, residual, weight)


@pytest.mark.parametrize(("m", "n", "k"), [(0, 5, 7), (3, 0, 7), (0, 0, 7), (0, 5, 0), (0, 0, 0)])
def test_an_empty_result(m: int, n: int, k: int, dtype: torch.dtype, device: torch.device, mode: str) -> None:
    attn, residual, weight = (torch.ones(s, dtype=dtype, device=device) for s in ((m, k), (m, n), (n, k)))
    out = residual if mode == "in_place" else torch.empty_like(residual)
    assert o_proj_residual(attn, residual, weight).shape == (m, n)
    assert o_proj_residual(attn, residual, weight, out=out) is out


def test_without_input_features_the_residual_remains(dtype: torch.dtype, device: torch.device) -> None:
    residual = torch.randn(5, 9, device=device).to(dtype)
    attn, weight = torch.ones(5, 0, dtype=dtype, device=device), torch.ones(9, 0, dtype=dtype, device=device)
    actual = o_proj_residual(attn, residual, weight)
    assert torch.equal(actual, residual)
    assert actual.data_ptr() != residual.data_ptr()
    assert torch.equal(o_proj_residual(attn, residual, weight, out=torch.empty_like(residual)), residual)


def test_an_expanded_residual_and_attn(dtype: torch.dtype, device: torch.device) -> None:
    attn = torch.randn(1, 48, device=device).to(dtype).expand(6, 48)
    residual = torch.randn(6, 1, device=device).to(dtype).expand(6, 72)
    weight = torch.randn(72, 48, device=device).to(dtype)
    check(o_proj_residual(attn, residual, weight), attn, residual, weight)


def test_heads_that_were_transposed(dtype: torch.dtype, device: torch.device, seed: int) -> None:
    """[batch, heads, seq, head_dim] -> [batch, seq, heads, head_dim], not collapsible without a copy."""
    torch.manual_seed(seed)
    attn = torch.randn(2, 5, 64, device=device).to(dtype).transpose(0, 1)
    residual = torch.randn(5, 2, 32, device=device).to(dtype)
    weight = torch.randn(32, 64, device=device).to(dtype)
    out = torch.full((2, 5, 32), float("nan"), device=device, dtype=dtype).transpose(0, 1)
    check(o_proj_residual(attn, residual, weight), attn, residual, weight)
    check(o_proj_residual(attn, residual, weight, out=out), attn, residual, weight)


def test_out_with_columns_first(dtype: torch.dtype, device: torch.device, make_inputs: Callable[..., Any]) -> None:
    inputs = make_inputs(6, 40, 64, dtype, device)
    out = torch.full((40, 6), float("nan"), dtype=dtype, device=device).t()
    check(o_proj_residual(*inputs.args(), out=out), *inputs.args())
    in_place = inputs.residual.t().contiguous().t()
    check(o_proj_residual(inputs.attn, in_place, inputs.weight, out=in_place), *inputs.args())


def test_inputs_and_out_as_columns_of_one_buffer(
    dtype: torch.dtype, device: torch.device, make_inputs: Callable[..., Any]
) -> None:
    """Interleaved but separate memory is allowed."""
    inputs = make_inputs(6, 40, 64, dtype, device)
    buffer = torch.cat([inputs.attn, inputs.residual, torch.full_like(inputs.residual, float("nan"))], dim=1)
    attn, residual, out = buffer[:, :64], buffer[:, 64:104], buffer[:, 104:]
    o_proj_residual(attn, residual, inputs.weight, out=out)
    check(out, *inputs.args())
    assert torch.equal(buffer[:, :64], inputs.attn)
    assert torch.equal(buffer[:, 64:104], inputs.residual)


def test_in_place_equals_out_of_place(
    dtype: torch.dtype, device: torch.device, make_inputs: Callable[..., Any]
) -> None:
    for m, n, k in ((1, 64, 256), (40, 72, 64), (200, 136, 128)):
        inputs = make_inputs(m, n, k, dtype, device)
        wanted = o_proj_residual(*inputs.args())
        assert torch.equal(o_proj_residual(*inputs.args(), out=inputs.residual), wanted)


def test_inputs_are_not_written(dtype: torch.dtype, device: torch.device, make_inputs: Callable[..., Any]) -> None:
    inputs = make_inputs(33, 72, 136, dtype, device)
    before = [tensor.clone() for tensor in inputs.args()]
    o_proj_residual(*inputs.args())
    assert all(torch.equal(old, new) for old, new in zip(before, inputs.args(), strict=True))
