"""The dispatch as a plain function: thousands of shapes and GPUs, none of which has to be there."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fused_o_proj import Gpu, explain

KIB = 1024
A100 = Gpu((8, 0), 108, 164 * KIB, 163 * KIB)
A10 = Gpu((8, 6), 72, 100 * KIB, 99 * KIB)
L40 = Gpu((8, 9), 142, 100 * KIB, 99 * KIB)
H200 = Gpu((9, 0), 132, 228 * KIB, 227 * KIB)
B200 = Gpu((10, 0), 148, 228 * KIB, 227 * KIB)
GEFORCE = Gpu((12, 0), 170, 100 * KIB, 99 * KIB)
GPUS = (A100, A10, L40, H200, B200, GEFORCE)
HALVES = (torch.bfloat16, torch.float16)

sizes = st.one_of(st.integers(1, 130), st.integers(1, 20_000), st.sampled_from([64, 128, 256, 4096, 8192, 16_384]))
alignments = st.sampled_from([2, 4, 8, 16])


def planned(m: int, n: int, k: int, dtype: torch.dtype, gpu: Gpu, alignment: int = 0) -> dict[str, Any]:
    return explain(((m, k), (m, n), (n, k)), dtype, gpu, alignment_bytes=(alignment,) * 4)


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


@settings(max_examples=3000, deadline=None)
@given(sizes, sizes, st.one_of(st.just(0), sizes), st.sampled_from(HALVES), st.sampled_from(GPUS), alignments)
def test_every_call_has_a_plan_that_covers_out(
    m: int, n: int, k: int, dtype: torch.dtype, gpu: Gpu, alignment: int
) -> None:
    plan = planned(m, n, k, dtype, gpu, alignment)
    tile_m, tile_n, tile_k = plan["tile"]
    assert plan["ctas"] == ceil_div(m, tile_m) * ceil_div(n, tile_n) * plan["split_k"]
    assert 1 <= plan["split_k"] <= max(1, ceil_div(k, tile_k))
    assert plan["threads"] % 32 == 0
    assert 0 < plan["threads"] <= 1024
    stage_bytes = (tile_m + tile_n) * tile_k * 2
    assert plan["stages"] * stage_bytes <= gpu.shared_memory_per_cta_bytes
    assert (plan["slower"] is None) == (alignment == 16)
    assert plan["reason"]
    assert planned(m, n, k, dtype, gpu, alignment) == plan


@settings(max_examples=500, deadline=None)
@given(sizes, sizes, sizes, st.sampled_from(GPUS))
def test_float32_says_that_it_takes_no_tensor_cores(m: int, n: int, k: int, gpu: Gpu) -> None:
    plan = planned(m, n, k, torch.float32, gpu)
    assert plan["kernel"] == ("simt_rows" if m <= 8 else "simt_tile")
    assert "no tensor cores" in plan["slower"]


@pytest.mark.parametrize(("k", "narrow"), [(64, None), (60, "off 16 bytes"), (62, "off 16 bytes"), (63, "off 4 bytes")])
def test_odd_rows_are_slower_and_say_so(k: int, narrow: str | None) -> None:
    slower = planned(100, 64, k, torch.bfloat16, H200)["slower"]
    assert slower is None if narrow is None else narrow in slower


@pytest.mark.parametrize("m", [1, 8, 9, 16, 32, 64])
def test_decode_takes_a_narrow_tile(m: int) -> None:
    plan = planned(m, 4096, 4096, torch.bfloat16, A100)
    assert plan["tile"][0] <= max(32, m)
    assert plan["warps_k"] > 1 or plan["split_k"] > 1


@pytest.mark.parametrize(
    ("m", "n", "k", "tile"),
    [
        (4096, 4096, 4096, [128, 256]),  # 512 tiles: 3.9 waves of 132
        (4096, 3584, 3584, [128, 128]),  # 448 tiles of 128 × 256 would be 3.4 waves
        (2048, 2880, 4096, [128, 192]),  # 240 tiles: 1.8 waves
        (1024, 2560, 2560, [128, 192]),  # 112 tiles: one wave, 85 % of it
        (256, 3584, 3584, [64, 64]),  # 224 tiles, two on an SM
    ],
)
def test_prefill_takes_the_tile_whose_waves_are_full(m: int, n: int, k: int, tile: list[int]) -> None:
    """What was fastest in the sweep on an H200."""
    plan = planned(m, n, k, torch.bfloat16, H200)
    assert plan["tile"][:2] == tile
    assert plan["split_k"] == 1


def test_unaligned_rows_are_split_before_an_sm_is_idle() -> None:
    plan = planned(256, 4096, 4096, torch.bfloat16, H200, alignment=4)
    assert (plan["tile"][:2], plan["split_k"]) == ([128, 128], 2)


def test_one_row_has_no_stride() -> None:
    assert planned(1, 1, 63, torch.bfloat16, H200)["slower"] is None


def test_a_gpu_that_is_too_old() -> None:
    with pytest.raises(RuntimeError, match=r"compute capability 7\.5, wanted 8\.0 or newer"):
        planned(4, 8, 16, torch.bfloat16, Gpu((7, 5), 72, 64 * KIB, 64 * KIB))


def test_a_gpu_without_shared_memory() -> None:
    with pytest.raises(RuntimeError, match="no kernel fits this GPU's shared memory of 1024 bytes"):
        planned(4, 8, 16, torch.bfloat16, Gpu((8, 0), 72, KIB, KIB))


@pytest.mark.parametrize("given_bytes", [(16, 16, 16), (16, 16, 16, 3), (16, 16, 16, 32)])
def test_alignments_that_can_not_be(given_bytes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="wanted four of 0, 2, 4, 8 and 16"):
        explain(((4, 16), (4, 8), (8, 16)), torch.bfloat16, H200, alignment_bytes=given_bytes)


def test_too_many_tiles() -> None:
    with pytest.raises(RuntimeError, match="wanted fewer than 2"):
        planned(2**40, 2**12, 16, torch.bfloat16, H200)


few = st.integers(17, 128)


@settings(max_examples=1000, deadline=None)
@given(few, st.integers(1, 5000).map(lambda n: 4 * n), sizes.map(lambda k: 8 * k), st.sampled_from(HALVES))
def test_hopper_streams_the_weight_for_few_tokens(m: int, n: int, k: int, dtype: torch.dtype) -> None:
    plan = planned(m, n, k, dtype, H200, 16)
    tiles = ceil_div(n, 64)
    if k < 64 or plan["kernel"] == "mma_tile":
        assert k < 64 or tiles * 8 < 2 * H200.sm_count, "a part of K for an eighth of a quarter of the SMs"
        return
    assert plan["kernel"] == "decode"
    tile_m, tile_n, tile_k = plan["tile"]
    assert (tile_m, tile_n) == (next(tokens for tokens in (32, 64, 128) if m <= tokens), 64)
    assert plan["split_k"] in (1, 2, 4, 8)  # CTAs of a cluster
    assert plan["split_k"] * tile_k <= max(k + tile_k - 1, tile_k)  # each has a part of K
    assert plan["workspace_bytes"] == 0
    assert plan["split_k"] == 1 or plan["ctas"] <= H200.sm_count
    assert plan["stages"] * (tile_m + tile_n) * tile_k * 2 + 1024 <= H200.shared_memory_per_cta_bytes


@pytest.mark.parametrize(
    ("m", "n", "k", "gpu", "alignment"),
    [
        (16, 4096, 4096, H200, 16),  # the portable kernel is as fast
        (129, 4096, 4096, H200, 16),
        (64, 4096, 4096, A100, 16),
        (64, 4096, 4096, B200, 16),
        (64, 4096, 4096, H200, 8),  # TMA wants rows at multiples of 16 bytes
        (64, 4098, 4096, H200, 16),  # features are stored four at a time
        (64, 4096, 56, H200, 16),
        (64, 128, 4096, H200, 16),  # two tiles: 16 parts of K are not enough for so many SMs
    ],
)
def test_what_the_decode_kernel_does_not_serve(m: int, n: int, k: int, gpu: Gpu, alignment: int) -> None:
    assert planned(m, n, k, torch.bfloat16, gpu, alignment)["kernel"] == "mma_tile"


def test_a_cluster_shares_k_where_tiles_are_few() -> None:
    """What was fastest in the sweep on an H200."""
    parts = {n: planned(64, n, 4096, torch.bfloat16, H200)["split_k"] for n in (2560, 2880, 3584, 4096, 8192)}
    assert parts == {2560: 2, 2880: 2, 3584: 2, 4096: 1, 8192: 1}
    assert planned(128, 4096, 4096, torch.bfloat16, H200)["split_k"] == 2


@settings(max_examples=1000, deadline=None)
@given(sizes, sizes, sizes, st.sampled_from(HALVES), st.sampled_from(GPUS))
def test_a_split_has_its_workspace_and_few_tiles(m: int, n: int, k: int, dtype: torch.dtype, gpu: Gpu) -> None:
    plan = planned(m, n, k, dtype, gpu)
    tile_m, tile_n, tile_k = plan["tile"]
    tiles = ceil_div(m, tile_m) * ceil_div(n, tile_n)
    if plan["split_k"] == 1 or plan["kernel"] == "decode":
        assert plan["workspace_bytes"] == 0
        return
    assert plan["workspace_bytes"] == tiles * (plan["split_k"] * tile_m * tile_n * 4 + 8)
    assert tiles < 3 * gpu.sm_count
    assert ceil_div(k, tile_k) >= 4 * plan["split_k"]


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: f"sm_{gpu.compute_capability[0]}{gpu.compute_capability[1]}")
def test_no_layer_leaves_most_of_a_gpu_idle(gpu: Gpu) -> None:
    for k, n in ((4096, 4096), (8192, 8192), (3584, 3584), (2560, 2560), (16_384, 7168), (4096, 2880)):
        for m in (1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192):
            plan = planned(m, n, k, torch.bfloat16, gpu)
            assert plan["ctas"] >= 0.4 * gpu.sm_count
            assert m <= 64 or plan["tile"][0] >= 64
