"""Runs odd shapes, each against the reference, for a memory, race or barrier checker to watch.

Usage: compute-sanitizer --tool memcheck --error-exitcode 1 python kernels/tests/memcheck_shapes.py [COUNT]

The pool of memory that split tiles take their workspace from is filled with NaN first, small blocks and
large ones: the arrival words are read as they are found, on purpose, which initcheck would report of memory
that nothing was ever written to; and whoever read a partial sum that no CTA has left would be found by the
reference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import torch

from fused_o_proj import explain, o_proj_residual
from fused_o_proj.reference import check

TOKENS = (1, 2, 7, 8, 9, 16, 17, 31, 33, 63, 65, 129)
FEATURES = ((1, 1), (7, 65), (33, 63), (65, 1030), (127, 40), (264, 200), (129, 264))
SPLIT = ((9, 64, 4096), (130, 264, 2056), (130, 264, 2054), (70, 100, 2053))
# What a Hopper GPU gives its decode kernel: enough tiles of 64 features, rows at multiples of 16 bytes.
DECODE = (
    (17, 2116, 72),  # less than one stage, four features in the last tile
    (40, 300, 520),  # a cluster of 8 whose last part of K is short; residual and out at 8 bytes
    (128, 1084, 136),  # a cluster of 2
    (64, 2112, 1672),  # a cluster of 2, the ring goes round
    (100, 4300, 1096),  # no cluster, the ring goes round twice
    (31, 580, 4104),  # a cluster of 8, parts of K of two lengths
)
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
COUNT = 60


def shape(number: int) -> tuple[int, int, int]:
    """The number-th (M, N, K); one in five has tiles that are split along K."""
    if number % 5 == 4:
        return SPLIT[number // 5 % len(SPLIT)]
    n, k = FEATURES[number % len(FEATURES)]
    return TOKENS[number % len(TOKENS)], n, k


def cases(count: int) -> Iterator[tuple[tuple[int, int, int], torch.dtype, int]]:
    """``count`` odd shapes with dtype and elements by which rows begin off, then DECODE's in both halves."""
    for number in range(count):
        yield shape(number), DTYPES[number % len(DTYPES)], number % 2  # every other at odd strides
    for number, sizes in enumerate(DECODE * 2):
        yield sizes, DTYPES[number // len(DECODE)], number % 2 * 8  # 16 bytes: TMA takes them still


def fill_the_pool(device: torch.device) -> None:
    """Leave 32 MiB of the allocator's small blocks and 128 MiB of large ones behind, all of it NaN."""
    sizes = [2**18] * 32 + [2**25]  # float32; held together, so that no block is taken twice
    blocks = [torch.full((size,), float("nan"), device=device) for size in sizes]
    torch.cuda.synchronize()
    del blocks


def main() -> int:
    device = torch.device("cuda")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    fill_the_pool(device)
    for m, n, k in SPLIT:
        assert explain(((m, k), (m, n), (n, k)), torch.bfloat16, device)["split_k"] > 1
    for number, ((m, n, k), dtype, shift) in enumerate(cases(count)):
        attn, residual, weight = (
            torch.randn(rows, columns + shift, device=device).to(dtype)[:, shift:]
            for rows, columns in ((m, k), (m, n), (n, k))
        )
        before = residual.clone()
        out = residual if number % 3 == 0 else None
        check(o_proj_residual(attn, residual, weight, out=out), attn, before, weight)
    torch.cuda.synchronize()
    print(f"{number + 1} calls agree with the reference on {torch.cuda.get_device_name()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
