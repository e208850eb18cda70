"""explain tells the plan of the dispatch itself."""

from __future__ import annotations

import pytest
import torch

from fused_o_proj import explain


def shapes(m: int, n: int, k: int) -> tuple[tuple[int, ...], ...]:
    return (m, k), (m, n), (n, k)


def test_cpu(dtype: torch.dtype) -> None:
    plan = explain(shapes(4, 8, 16), dtype, "cpu")
    assert plan.pop("reason")
    assert plan == {
        "kernel": "cpu_linear",
        "tile": None,
        "split_k": 1,
        "warps_k": 1,
        "stages": 0,
        "threads": 0,
        "ctas": 0,
        "slower": None,
    }


def test_nothing_runs_for_an_empty_result(device: torch.device) -> None:
    assert explain(shapes(0, 8, 16), torch.bfloat16, device)["kernel"] == "none"
    assert explain(shapes(4, 0, 16), torch.bfloat16, device)["kernel"] == "none"


def test_leading_dimensions_are_tokens() -> None:
    assert explain(((2, 0, 16), (2, 0, 8), (8, 16)), torch.bfloat16, "cpu")["kernel"] == "none"


@pytest.mark.gpu
@pytest.mark.parametrize(("m", "tokens"), [(1, 8), (8, 8), (9, 16), (16, 16), (32, 32), (64, 64)])
def test_decode_takes_the_narrowest_tile(m: int, tokens: int, cuda: torch.device) -> None:
    plan = explain(shapes(m, 4096, 4096), torch.bfloat16, cuda)
    assert plan["kernel"] == "mma_tile"
    assert plan["tile"][0] == tokens
    assert plan["warps_k"] > 1
    assert plan["ctas"] == 4096 // plan["tile"][1]


@pytest.mark.gpu
def test_prefill_takes_a_large_tile(cuda: torch.device) -> None:
    plan = explain(shapes(4096, 4096, 4096), torch.bfloat16, cuda)
    assert plan["tile"][0] * plan["tile"][1] >= 128 * 128


@pytest.mark.gpu
def test_float32_takes_no_tensor_cores(cuda: torch.device) -> None:
    assert explain(shapes(8, 64, 64), torch.float32, cuda)["kernel"] == "simt_rows"
    assert explain(shapes(9, 64, 64), torch.float32, cuda)["kernel"] == "simt_tile"


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="o_proj_weight has shape"):
        explain(((4, 16), (4, 8), (8, 15)), torch.bfloat16, "cpu")


def test_a_dtype_that_is_not_served() -> None:
    with pytest.raises(RuntimeError, match="wanted bfloat16, float16 or float32"):
        explain(shapes(4, 8, 16), torch.float64, "cpu")
