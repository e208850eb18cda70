"""The Hopper decode kernel: clusters, a ring that goes round, repetition, graphs; and that checkers meet it."""

from __future__ import annotations

import runpy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fused_o_proj import Gpu, explain, o_proj_residual

CHECKED = runpy.run_path(str(Path(__file__).with_name("memcheck_shapes.py")))  # a script, no module of the tests
DECODE = CHECKED["DECODE"]
H200 = Gpu((9, 0), 132, 228 * 1024, 227 * 1024)
REPEATED = ((17, 4300, 1096), (64, 1024, 1024), (128, 1084, 136), (100, 580, 4104))  # of 1, 4, 2 and 8 CTAs
HALVES = (torch.bfloat16, torch.float16)


@pytest.fixture
def hopper(cuda: torch.device) -> torch.device:
    """A GPU that has the kernel."""
    if torch.cuda.get_device_capability(cuda) != (9, 0):
        pytest.skip("needs compute capability 9.0")
    return cuda


@pytest.fixture(params=REPEATED, ids=lambda shape: "x".join(map(str, shape)))
def decode_inputs(
    request: pytest.FixtureRequest, half: torch.dtype, hopper: torch.device, make_inputs: Callable[..., Any]
) -> Any:
    """Inputs of a call that runs the kernel."""
    m, n, k = request.param
    assert explain(((m, k), (m, n), (n, k)), half, hopper)["kernel"] == "decode"
    return make_inputs(m, n, k, half, hopper)


@pytest.fixture(params=HALVES, ids=lambda dtype: str(dtype).removeprefix("torch."))
def half(request: pytest.FixtureRequest) -> torch.dtype:
    """Each dtype that it serves."""
    found: torch.dtype = request.param
    return found


def planned(sizes: tuple[int, int, int], dtype: torch.dtype, alignment: int = 0) -> dict[str, Any]:
    m, n, k = sizes
    return explain(((m, k), (m, n), (n, k)), dtype, H200, alignment_bytes=(alignment,) * 4)


def test_the_checkers_meet_every_kernel() -> None:
    """compute-sanitizer says nothing of a kernel that its shapes don't reach; 30 is what racecheck is given."""
    met: Counter[str] = Counter()
    for sizes, dtype, shift in CHECKED["cases"](30):
        met[planned(sizes, dtype, 2 if shift % 8 else 0)["kernel"]] += 1
    assert met["decode"] == 2 * len(DECODE)
    assert min(met[kernel] for kernel in ("mma_tile", "simt_tile", "simt_rows", "decode")) > 0


def test_the_checkers_meet_every_tile_clusters_and_a_ring_that_goes_round() -> None:
    plans = [(planned(sizes, torch.bfloat16), sizes[2]) for sizes in DECODE]
    assert {plan["tile"][0] for plan, _ in plans} == {32, 64, 128}
    assert {plan["split_k"] for plan, _ in plans} >= {1, 2, 8}
    turns = [k / plan["split_k"] / plan["tile"][2] / plan["stages"] for plan, k in plans]
    assert min(turns) < 1 < 2 < max(turns)


def test_what_is_repeated_has_clusters_of_every_size() -> None:
    assert [planned(sizes, torch.bfloat16)["split_k"] for sizes in REPEATED] == [1, 4, 2, 8]


@pytest.mark.gpu
@pytest.mark.parametrize(("m", "n", "k"), DECODE)
def test_odd_sizes_in_every_mode(
    m: int,
    n: int,
    k: int,
    half: torch.dtype,
    mode: str,
    hopper: torch.device,
    make_inputs: Callable[..., Any],
    check_mode: Callable[..., None],
) -> None:
    check_mode(mode, make_inputs(m, n, k, half, hopper))


@pytest.mark.gpu
def test_a_thousand_repeats_are_bitwise_equal(decode_inputs: Any, check_repeats: Callable[..., None]) -> None:
    check_repeats(decode_inputs)


@pytest.mark.gpu
def test_graphs_on_two_streams_in_place(decode_inputs: Any) -> None:
    """A captured call keeps its tensor maps; each adds to what the one before it left."""
    attn, residual, weight = decode_inputs.args()
    wanted = residual.clone()
    for _ in range(3):
        o_proj_residual(attn, wanted, weight, out=wanted)
    outs = [torch.empty_like(residual) for _ in range(2)]
    graphs = [torch.cuda.CUDAGraph() for _ in outs]
    for graph, out in zip(graphs, outs, strict=True):
        with torch.cuda.graph(graph):
            out.copy_(residual)
            for _ in range(3):
                o_proj_residual(attn, out, weight, out=out)
    streams = [torch.cuda.Stream() for _ in outs]  # type: ignore[no-untyped-call]
    torch.cuda.synchronize()
    for _ in range(100):
        for graph, stream in zip(graphs, streams, strict=True):
            with torch.cuda.stream(stream):
                graph.replay()
    torch.cuda.synchronize()
    assert all(torch.equal(out, wanted) for out in outs)


@pytest.mark.gpu
def test_a_call_takes_no_memory_but_its_output(decode_inputs: Any) -> None:
    out = torch.empty_like(decode_inputs.residual)
    o_proj_residual(*decode_inputs.args(), out=out)
    torch.cuda.synchronize()
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    o_proj_residual(*decode_inputs.args(), out=out)
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == before
