"""Sizes around every tile, warp and vector edge, against the float64 reference."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

TOKENS = (0, 1, 2, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 257, 1000)
FEATURES = (1, 7, 8, 9, 63, 64, 65, 127, 192, 4095, 4096, 4104)
SMALL_FEATURES = FEATURES[:9]
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
MODES = ("new", "out", "in_place", "strided", "offset", "copied")
CPU_PRODUCTS = 2**25  # multiply-adds of one case: keeps the whole CPU suite under a minute


def pairwise() -> Iterator[tuple[int, int, int, torch.dtype, str]]:
    """Every (M, N), (M, K) and (N, K) once at least, dtypes and modes in rotation."""
    count = len(FEATURES)
    for (i, m), (j, n) in itertools.product(enumerate(TOKENS), enumerate(FEATURES)):
        k = FEATURES[(i + j) % count]
        if m * n * k > CPU_PRODUCTS:
            k = SMALL_FEATURES[(i + j) % len(SMALL_FEATURES)]
        yield m, n, k, DTYPES[(i + i // 3 + j) % 3], MODES[(i + 2 * j + j // 3) % len(MODES)]


@pytest.mark.parametrize("m", TOKENS)
def test_pairwise_on_the_cpu(m: int, make_inputs: Callable[..., Any], check_mode: Callable[..., None]) -> None:
    for tokens, n, k, dtype, mode in pairwise():
        if tokens == m:
            check_mode(mode, make_inputs(m, n, k, dtype, torch.device("cpu")))


def test_pairwise_meets_every_dtype_and_mode_together() -> None:
    met = {(dtype, mode) for _, _, _, dtype, mode in pairwise()}
    assert len(met) == len(DTYPES) * len(MODES)


@pytest.mark.gpu
@pytest.mark.parametrize("m", TOKENS)
def test_all_on_the_gpu(
    m: int,
    dtype: torch.dtype,
    cuda: torch.device,
    make_inputs: Callable[..., Any],
    check_mode: Callable[..., None],
) -> None:
    for number, (n, k) in enumerate(itertools.product(FEATURES, FEATURES)):
        check_mode(MODES[(number + m) % len(MODES)], make_inputs(m, n, k, dtype, cuda))


def test_every_mode(
    mode: str,
    dtype: torch.dtype,
    device: torch.device,
    make_inputs: Callable[..., Any],
    check_mode: Callable[..., None],
) -> None:
    for m, n, k in ((3, 40, 72), (33, 72, 40), (70, 130, 264), (129, 256, 64), (140, 72, 2048), (9, 40, 2052)):
        check_mode(mode, make_inputs(m, n, k, dtype, device))


@pytest.mark.gpu
@pytest.mark.parametrize("tiles", [131, 132, 133, 263, 265])
def test_tile_counts_around_the_sm_count(
    tiles: int, cuda: torch.device, make_inputs: Callable[..., Any], check_mode: Callable[..., None]
) -> None:
    check_mode("new", make_inputs(16, tiles * 32, 256, torch.bfloat16, cuda))
    check_mode("new", make_inputs(128, tiles * 128, 128, torch.bfloat16, cuda))
    check_mode("in_place", make_inputs(tiles * 8, 1024, 128, torch.float16, cuda))


@pytest.mark.gpu
@pytest.mark.slow
def test_more_than_2_to_the_31_elements(cuda: torch.device) -> None:
    """out has 2.2e9 elements: the last rows lie beyond 32-bit offsets."""
    from fused_o_proj import o_proj_residual
    from fused_o_proj.reference import check

    if torch.cuda.mem_get_info()[1] < 40e9:
        pytest.skip("needs 40 GB of GPU memory")
    m, n, k = 33_000, 66_000, 16
    attn = torch.randn(m, k, device=cuda, dtype=torch.bfloat16)
    weight = torch.randn(n, k, device=cuda, dtype=torch.bfloat16)
    residual = torch.zeros(1, n, device=cuda, dtype=torch.bfloat16).expand(m, n)
    out = o_proj_residual(attn, residual, weight)
    rows = slice(m - 100, m)
    check(out[rows], attn[rows], residual[rows], weight)
    check(out[:64], attn[:64], residual[:64], weight)
