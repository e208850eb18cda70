"""The comparison on a GPU: every candidate is right, and every peer that is there gets a time."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from benchmarks.layers import LAYERS
from benchmarks.peers.comparison.cutlass import NotBuiltError
from benchmarks.peers.comparison.field import able, all_peers
from benchmarks.peers.comparison.framework import Compiled
from benchmarks.peers.comparison.peer import Case
from benchmarks.peers.comparison.ruler import Ruler
from benchmarks.peers.comparison.watchdog import Watchdog
from benchmarks.projection import check_projection, fused_cell
from solwatch.model.record import Ceilings

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]

SWEPT = [peer.name for peer in all_peers() if peer.name != Compiled.name]


@pytest.fixture(scope="module")
def ruler() -> Iterator[Ruler]:
    yield Ruler(0, seed=1, watchdog=Watchdog(print))
    torch.cuda.empty_cache()


def inputs(case: Case) -> dict[str, Any]:
    tensors = dict(fused_cell(case.tokens, case.shape, case.dtype).make_inputs("cuda:0", case.tokens))
    return tensors | {"inout": tensors["residual"].clone()}


@pytest.mark.parametrize("name", SWEPT)
@pytest.mark.parametrize("tokens", [1, 33, 200])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_every_candidate_is_right(ruler: Ruler, name: str, tokens: int, dtype: str) -> None:
    present, left_out = able([peer for peer in all_peers() if peer.name == name], ruler.gpu)
    if not present:
        pytest.skip(left_out[name])
    case = Case(tokens, "gpt-oss", dtype)  # its 2880 features divide by no tile
    tensors = inputs(case)
    try:
        candidates = present[0].candidates(case)
    except NotBuiltError as error:  # the library is built for the dtypes that were asked for
        pytest.skip(str(error))
    assert candidates
    for candidate in candidates:
        tensors["out"].fill_(torch.nan)
        tensors["inout"].copy_(tensors["residual"])
        result = candidate.call(**tensors)
        check_projection(tensors["attn_output"], tensors["residual"], tensors["o_proj_weight"], result)


def test_the_triton_kernel_gives_the_same_bits_every_time(ruler: Ruler) -> None:
    present, left_out = able([peer for peer in all_peers() if peer.name == "Triton"], ruler.gpu)
    if not present:
        pytest.skip(left_out["Triton"])
    case = Case(16, "jamba-3b")
    tensors = inputs(case)
    for candidate in present[0].candidates(case):
        first = candidate.call(**tensors).clone()
        assert all(torch.equal(first, candidate.call(**tensors)) for _ in range(20))


def test_a_cell_gives_every_peer_a_time_from_the_same_rounds(ruler: Ruler) -> None:
    present, _ = able([peer for peer in all_peers() if peer.name != Compiled.name], ruler.gpu)
    found = ruler.compare(Case(16, "jamba-3b"), present, Ceilings(), rounds=4)
    assert [one.peer for one in found.contenders] == [peer.name for peer in present]
    for one in found.contenders:
        assert one.failure is None, f"{one.peer}: {one.failure}"
        assert len(one.blocks_s) + len(found.voided) == 4
        assert one.timer == "held"
        assert one.time_s is not None
        assert 2e-6 < one.time_s < 1e-3
    assert found.null_s is not None
    assert found.null_s < min(one.time_s or 0.0 for one in found.contenders)


def test_the_layers_fit_the_gpu(ruler: Ruler) -> None:
    largest = max(LAYERS, key=lambda name: LAYERS[name].k * LAYERS[name].n)
    found = ruler.compare(Case(8192, largest), all_peers()[1:3], Ceilings(), rounds=3)
    assert [one.failure for one in found.contenders] == [None, None]
