"""The GPU's own traps: streams, devices, graphs, repetition under contention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fused_o_proj import o_proj_residual
from fused_o_proj.reference import check

pytestmark = pytest.mark.gpu


def test_the_current_stream_is_used(cuda: torch.device, make_inputs: Callable[..., Any]) -> None:
    """The inputs become right only late on the side stream: a launch elsewhere would read zeros."""
    inputs = make_inputs(64, 512, 1024, torch.bfloat16, cuda)
    late = torch.zeros_like(inputs.attn)
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # type: ignore[no-untyped-call]  # about 10 ms
        late.copy_(inputs.attn)
        actual = o_proj_residual(late, inputs.residual, inputs.weight)
    stream.synchronize()
    check(actual, *inputs.args())


def test_another_device_than_the_current(make_inputs: Callable[..., Any], cuda: torch.device) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    inputs = make_inputs(64, 512, 1024, torch.bfloat16, torch.device("cuda:1"))
    with torch.cuda.device(0):
        check(o_proj_residual(*inputs.args()), *inputs.args())
        assert torch.cuda.current_device() == 0


@pytest.mark.parametrize("k", [1024, 1028, 1026, 1025])
@pytest.mark.parametrize("m", [1, 16, 64, 256])
def test_a_thousand_repeats_are_bitwise_equal(
    m: int,
    k: int,
    dtype: torch.dtype,
    cuda: torch.device,
    make_inputs: Callable[..., Any],
    check_repeats: Callable[..., None],
) -> None:
    """Rows of every alignment."""
    check_repeats(make_inputs(m, 1024, k, dtype, cuda))


def test_a_captured_graph(cuda: torch.device, make_inputs: Callable[..., Any]) -> None:
    inputs = make_inputs(16, 512, 1024, torch.bfloat16, cuda)
    out = torch.empty_like(inputs.residual)
    o_proj_residual(*inputs.args(), out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        o_proj_residual(*inputs.args(), out=out)
    out.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    check(out, *inputs.args())
