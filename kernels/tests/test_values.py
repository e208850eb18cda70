"""Values that hide errors or make them: exact sums, cancellation, overflow, NaN and infinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fused_o_proj import o_proj_residual
from fused_o_proj.reference import check, reference

SHAPES = ((1, 64, 200), (5, 33, 129), (16, 96, 256), (40, 64, 512), (65, 130, 96), (130, 260, 64), (70, 72, 4096))


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_integers_are_exact(
    m: int, n: int, k: int, dtype: torch.dtype, device: torch.device, mode: str, seed: int
) -> None:
    """Small integers whose sums the output holds exactly: any difference is a wrong product."""
    generator = torch.Generator().manual_seed(seed + m)
    attn = torch.zeros(m, k)
    for _ in range(8):  # at most 8 products of ±1 a row, plus a residual up to ±8
        attn[torch.arange(m), torch.randint(k, (m,), generator=generator)] = 1
    weight = torch.randint(-1, 2, (n, k), generator=generator).float()
    residual = torch.randint(-8, 9, (m, n), generator=generator).float()
    wanted = (attn @ weight.T + residual).to(dtype).to(device)
    attn, weight, residual = (t.to(dtype).to(device) for t in (attn, weight, residual))
    if mode == "in_place":
        actual = o_proj_residual(attn, residual, weight, out=residual)
    elif mode == "out":
        actual = o_proj_residual(attn, residual, weight, out=torch.full_like(residual, float("nan")))
    else:
        actual = o_proj_residual(attn, residual, weight)
    assert torch.equal(actual, wanted)


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_a_residual_that_cancels(
    m: int, n: int, k: int, dtype: torch.dtype, device: torch.device, make_inputs: Callable[..., Any]
) -> None:
    """Where out is nearly zero only the rounding of the sum is left: it must be rounded once."""
    inputs = make_inputs(m, n, k, dtype, device)
    residual = -reference(inputs.attn, torch.zeros_like(inputs.residual), inputs.weight).to(dtype)
    check(o_proj_residual(inputs.attn, residual, inputs.weight), inputs.attn, residual, inputs.weight)


def test_float16_overflows_to_infinity(device: torch.device) -> None:
    attn = torch.full((3, 64), 100.0, dtype=torch.float16, device=device)
    weight = torch.full((40, 64), 100.0, dtype=torch.float16, device=device)
    weight[7] = -100.0
    residual = torch.zeros(3, 40, dtype=torch.float16, device=device)
    actual = o_proj_residual(attn, residual, weight)
    assert torch.equal(actual[:, 7], torch.full_like(actual[:, 7], float("-inf")))
    assert bool((actual[:, :7] == float("inf")).all())
    check(actual, attn, residual, weight)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("where", ["attn", "residual", "weight"])
def test_a_value_reaches_its_own_outputs_only(
    value: float, where: str, dtype: torch.dtype, device: torch.device, make_inputs: Callable[..., Any]
) -> None:
    """One NaN or infinity in the last column of K, beyond every whole vector and stage."""
    for m, n, k in ((3, 37, 73), (20, 45, 130), (67, 135, 65)):
        inputs = make_inputs(m, n, k, dtype, device)
        row, column = m - 1, n - 1
        place = {"attn": (row, k - 1), "residual": (row, column), "weight": (column, k - 1)}[where]
        getattr(inputs, where)[place] = value
        actual = o_proj_residual(*inputs.args())
        touched = torch.zeros(m, n, dtype=torch.bool, device=device)
        rows = slice(None) if where == "weight" else slice(row, m)
        columns = slice(None) if where == "attn" else slice(column, n)
        touched[rows, columns] = True
        assert torch.equal(~actual.isfinite(), touched)
        check(actual, *inputs.args())


@pytest.mark.gpu
def test_the_result_does_not_depend_on_other_tokens(
    dtype: torch.dtype, cuda: torch.device, make_inputs: Callable[..., Any]
) -> None:
    """Tokens of one batch are bitwise the tokens of another of the same configuration."""
    inputs = make_inputs(16, 256, 512, dtype, cuda)
    whole = o_proj_residual(*inputs.args())
    part = o_proj_residual(inputs.attn[3:13], inputs.residual[3:13], inputs.weight)
    assert torch.equal(whole[3:13], part)
