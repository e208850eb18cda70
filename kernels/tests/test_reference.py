"""The ruler of the operator: it must pass right results and catch small, localised errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fused_o_proj import o_proj_residual
from fused_o_proj import reference as ruler
from fused_o_proj.reference import Mismatch, check, reference, tolerance

CPU = torch.device("cpu")


@pytest.fixture(params=["full", "sampled"])
def budget(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Check in full, or as large results are checked."""
    if request.param == "sampled":
        monkeypatch.setattr(ruler, "FULL_FLOPS", {})
    return str(request.param)


def test_reference_is_the_plain_formula() -> None:
    attn, residual, weight = torch.randn(2, 5, 33), torch.randn(2, 5, 70), torch.randn(70, 33)
    wanted = attn.double() @ weight.double().T + residual.double()
    assert torch.allclose(reference(attn, residual, weight), wanted, rtol=1e-14, atol=1e-14)


def test_reference_in_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    attn, residual, weight = torch.randn(150, 33), torch.randn(150, 200), torch.randn(200, 33)
    whole = reference(attn, residual, weight)
    monkeypatch.setattr(ruler, "BLOCK_ELEMENTS", 33 * 70)
    assert torch.allclose(reference(attn, residual, weight), whole, rtol=1e-14, atol=1e-14)
    check(o_proj_residual(attn, residual, weight), attn, residual, weight)


def test_tolerance_in_closed_form() -> None:
    ref, bound = torch.tensor([-4.0]).double(), torch.tensor([16.0]).double()
    assert tolerance(ref, bound, 8, torch.bfloat16).item() == pytest.approx(4 * 2**-8 + 8 * 2**-23 * 16)
    assert tolerance(ref * 0, bound * 0, 8, torch.float16).item() == 2.0**-25  # half a subnormal step


def test_right_results_pass(budget: str, dtype: torch.dtype, make_inputs: Callable[..., Any]) -> None:
    for m, n, k in ((200, 300, 500), (130, 64, 4096), (70, 1000, 64)):
        inputs = make_inputs(m, n, k, dtype, CPU)
        check(o_proj_residual(*inputs.args()), *inputs.args())


@pytest.mark.parametrize("seed", range(5))
def test_one_wrong_element_is_caught(
    budget: str, seed: int, dtype: torch.dtype, make_inputs: Callable[..., Any]
) -> None:
    inputs = make_inputs(200, 300, 500, dtype, CPU)
    actual = o_proj_residual(*inputs.args())
    generator = torch.Generator().manual_seed(seed)
    row, column = (int(torch.randint(size, (), generator=generator)) for size in actual.shape)
    actual[row, column] += 20.0  # a sum of 500 products is about 22
    with pytest.raises(Mismatch, match=rf"wrong at \[{row}, "):
        check(actual, *inputs.args())


def test_a_skipped_stage_is_caught(budget: str, dtype: torch.dtype, make_inputs: Callable[..., Any]) -> None:
    """One tile of 16 × 16 lacks 64 of 4096 input features: every element is within the loose bound's reach."""
    inputs = make_inputs(128, 128, 4096, dtype, CPU)
    actual = o_proj_residual(*inputs.args())
    part = (inputs.attn[64:80, :64].double() @ inputs.weight[32:48, :64].double().T).to(dtype)
    actual[64:80, 32:48] -= part
    with pytest.raises(Mismatch):
        check(actual, *inputs.args())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_out_of_nowhere_is_caught(budget: str, value: float, make_inputs: Callable[..., Any]) -> None:
    inputs = make_inputs(100, 100, 64, torch.bfloat16, CPU)
    actual = o_proj_residual(*inputs.args())
    actual[37, 61] = value
    with pytest.raises(Mismatch, match=r"wrong at \[37, 61\]"):
        check(actual, *inputs.args())


def test_nan_that_should_be_there_is_missed(budget: str, make_inputs: Callable[..., Any]) -> None:
    inputs = make_inputs(100, 100, 64, torch.bfloat16, CPU)
    actual = o_proj_residual(*inputs.args())
    inputs.attn[37, 5] = float("nan")
    with pytest.raises(Mismatch):
        check(actual, *inputs.args())
    check(o_proj_residual(*inputs.args()), *inputs.args())


def test_a_wrong_shape_is_an_error(make_inputs: Callable[..., Any]) -> None:
    inputs = make_inputs(4, 5, 6, torch.float32, CPU)
    with pytest.raises(ValueError, match="out has shape"):
        check(inputs.residual[:3], *inputs.args())
