"""Tiles that several CTAs share along K: the workspace, its arrivals, streams and graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from fused_o_proj import explain, o_proj_residual
from fused_o_proj.reference import check

pytestmark = pytest.mark.gpu

SHAPES = ((16, 256, 4096), (130, 384, 4096), (200, 260, 2055))


@pytest.fixture(params=SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def split_inputs(request: pytest.FixtureRequest, cuda: torch.device, make_inputs: Callable[..., Any]) -> Any:
    """Inputs of a call that splits K."""
    m, n, k = request.param
    assert explain(((m, k), (m, n), (n, k)), torch.bfloat16, cuda)["split_k"] > 1
    return make_inputs(m, n, k, torch.bfloat16, cuda)


def fill_the_pool(byte: int, device: torch.device) -> None:
    """Leave memory of given contents where the next small and large workspaces come from."""
    blocks = [torch.full((size,), byte, dtype=torch.uint8, device=device) for size in (2**18, 2**19, 2**22, 2**25)]
    torch.cuda.synchronize()
    del blocks


@pytest.mark.parametrize("byte", [0x00, 0x01, 0x7F, 0xFF])
def test_the_workspace_may_hold_anything(split_inputs: Any, byte: int, cuda: torch.device) -> None:
    for _ in range(3):
        fill_the_pool(byte, cuda)
        check(o_proj_residual(*split_inputs.args()), *split_inputs.args())


def test_repeats_on_three_streams_share_nothing(split_inputs: Any) -> None:
    """500 calls on each of three streams at once, each with a workspace of its own, are bitwise equal."""
    wanted = o_proj_residual(*split_inputs.args())
    streams = [torch.cuda.Stream() for _ in range(3)]  # type: ignore[no-untyped-call]
    wrong = []
    torch.cuda.synchronize()
    for stream in streams:
        with torch.cuda.stream(stream):
            wrong.append(torch.zeros((), dtype=torch.int64, device=wanted.device))
    for _ in range(500):
        for stream, count in zip(streams, wrong, strict=True):
            with torch.cuda.stream(stream):
                count += (o_proj_residual(*split_inputs.args()) != wanted).sum()
    torch.cuda.synchronize()
    assert [int(count) for count in wrong] == [0, 0, 0]


def captured(inputs: Any, out: Tensor, calls: int) -> torch.cuda.CUDAGraph:
    """A graph of that many calls, each in place on what the one before it left."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            o_proj_residual(inputs.attn, out, inputs.weight, out=out)
    return graph


def test_two_graphs_and_eager_calls_at_once(split_inputs: Any) -> None:
    """Replays carry the tag of their capture again and again; the streams run side by side."""
    calls = 3
    wanted = split_inputs.residual.clone()
    for _ in range(calls):
        o_proj_residual(split_inputs.attn, wanted, split_inputs.weight, out=wanted)
    outs = [torch.empty_like(split_inputs.residual) for _ in range(2)]
    graphs = [captured(split_inputs, out, calls) for out in outs]
    streams = [torch.cuda.Stream() for _ in range(2)]  # type: ignore[no-untyped-call]
    wrong = [torch.zeros((), dtype=torch.int64, device=wanted.device) for _ in outs]
    once = o_proj_residual(*split_inputs.args())
    torch.cuda.synchronize()
    for _ in range(100):
        for stream, graph, out, count in zip(streams, graphs, outs, wrong, strict=True):
            with torch.cuda.stream(stream):
                out.copy_(split_inputs.residual)
                graph.replay()
                count += (out != wanted).sum()
        eager = o_proj_residual(*split_inputs.args())
    torch.cuda.synchronize()
    assert [int(count) for count in wrong] == [0, 0]
    assert torch.equal(eager, once)


def test_in_place_adds_the_residual_once(split_inputs: Any) -> None:
    attn, residual, weight = split_inputs.args()
    out = residual.clone()
    o_proj_residual(attn, out, weight, out=out)
    check(out, attn, residual, weight)
