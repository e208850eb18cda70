"""explain tells the plan of the dispatch itself."""

from __future__ import annotations

import pytest
import torch

from fused_o_proj import Gpu, explain


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
        "workspace_bytes": 0,
        "slower": None,
    }


def test_nothing_runs_for_an_empty_result(device: torch.device) -> None:
    assert explain(shapes(0, 8, 16), torch.bfloat16, device)["kernel"] == "none"
    assert explain(shapes(4, 0, 16), torch.bfloat16, device)["kernel"] == "none"


def test_leading_dimensions_are_tokens() -> None:
    assert explain(((2, 0, 16), (2, 0, 8), (8, 16)), torch.bfloat16, "cpu")["kernel"] == "none"


@pytest.mark.gpu
@pytest.mark.parametrize("sizes", [(1, 4096, 4096), (64, 2880, 4096), (256, 64, 63), (4096, 4096, 4096), (0, 8, 16)])
def test_a_gpu_is_told_about_as_its_facts_are(
    sizes: tuple[int, int, int], dtype: torch.dtype, cuda: torch.device
) -> None:
    found = torch.cuda.get_device_properties(cuda)
    gpu = Gpu(
        (found.major, found.minor),
        found.multi_processor_count,
        found.shared_memory_per_multiprocessor,
        found.shared_memory_per_block_optin,
    )
    assert explain(shapes(*sizes), dtype, cuda) == explain(shapes(*sizes), dtype, gpu)


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="o_proj_weight has shape"):
        explain(((4, 16), (4, 8), (8, 15)), torch.bfloat16, "cpu")


def test_a_dtype_that_is_not_served() -> None:
    with pytest.raises(RuntimeError, match="wanted bfloat16, float16 or float32"):
        explain(shapes(4, 8, 16), torch.float64, "cpu")
