"""Runs odd shapes, each against the reference, for a memory, race or barrier checker to watch.

Usage: compute-sanitizer --tool memcheck --error-exitcode 1 python kernels/tests/memcheck_shapes.py [COUNT]

The pool of memory that split tiles take their workspace from is filled with NaN first: whoever read what
no CTA has left there would be found by the reference. (initcheck itself would report the arrival words,
which are read as they are found, on purpose.)
"""

from __future__ import annotations

import sys

import torch

from fused_o_proj import o_proj_residual
from fused_o_proj.reference import check

TOKENS = (1, 2, 7, 8, 9, 16, 17, 31, 33, 63, 65, 129)
FEATURES = ((1, 1), (7, 65), (33, 63), (65, 1030), (127, 40), (264, 200), (129, 264))
SPLIT = ((9, 64, 4096), (130, 264, 1032), (130, 264, 1030), (70, 100, 1029))
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
COUNT = 60


def shape(number: int) -> tuple[int, int, int]:
    """The number-th (M, N, K); one in five has tiles that are split along K."""
    if number % 5 == 4:
        return SPLIT[number // 5 % len(SPLIT)]
    n, k = FEATURES[number % len(FEATURES)]
    return TOKENS[number % len(TOKENS)], n, k


def main() -> int:
    device = torch.device("cuda")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    torch.full((2**25,), float("nan"), device=device)
    torch.full((2**18,), float("nan"), device=device)
    for number in range(count):
        m, n, k = shape(number)
        dtype = DTYPES[number % len(DTYPES)]
        shift = number % 2  # every other case starts one element off, at odd strides
        attn, residual, weight = (
            torch.randn(rows, columns + shift, device=device).to(dtype)[:, shift:]
            for rows, columns in ((m, k), (m, n), (n, k))
        )
        before = residual.clone()
        out = residual if number % 3 == 0 else None
        check(o_proj_residual(attn, residual, weight, out=out), attn, before, weight)
    torch.cuda.synchronize()
    print(f"{count} shapes agree with the reference on {torch.cuda.get_device_name()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
