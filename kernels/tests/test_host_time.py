"""What a call costs the host: all that happens between the operator's entry and its return."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fused_o_proj import explain
from fused_o_proj._native import OPS

pytestmark = pytest.mark.gpu

LAUNCH_S = 5e-6
CALLS = 200  # fewer than a stream queues, so that no call waits for the GPU


def host_time_s(call: Callable[[], object]) -> float:
    """The fastest of 20 blocks of calls, a call."""
    best = float("inf")
    for _ in range(20):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter() - begin) / CALLS)
    return best


@pytest.mark.parametrize(
    ("m", "n", "split"), [(130, 384, True), (4096, 4096, False), (64, 4096, False), (64, 2560, True)]
)
def test_the_launch_path(
    m: int,
    n: int,
    split: bool,
    cuda: torch.device,
    make_inputs: Callable[..., Any],
    record_property: Callable[[str, object], None],
) -> None:
    """Against an operator whose kernel is as cheap to launch as one can be: the dispatcher's part is in both."""
    k = 4096
    assert (explain(((m, k), (m, n), (n, k)), torch.bfloat16, cuda)["split_k"] > 1) == split
    inputs = make_inputs(m, n, k, torch.bfloat16, cuda)
    out, one = torch.empty_like(inputs.residual), torch.zeros(1, device=cuda)
    with torch.inference_mode():
        ours_s = host_time_s(lambda: OPS.o_proj_residual.out(*inputs.args(), out=out))
        least_s = host_time_s(lambda: torch.ops.aten.relu_.default(one))
    record_property("host_time_s", ours_s)
    print(f"host time of a call: {ours_s * 1e6:.2f} µs, of relu_ on one element: {least_s * 1e6:.2f} µs")
    assert ours_s - least_s <= LAUNCH_S
