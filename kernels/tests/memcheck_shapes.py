"""Runs 60 odd shapes, each against the reference, for a memory checker to watch.

Usage: compute-sanitizer --tool memcheck --error-exitcode 1 python kernels/tests/memcheck_shapes.py
"""

from __future__ import annotations

import sys

import torch

from fused_o_proj import o_proj_residual
from fused_o_proj.reference import check

TOKENS = (1, 2, 7, 8, 9, 16, 17, 31, 33, 63, 65, 129)
FEATURES = ((1, 1), (7, 65), (33, 63), (65, 129), (127, 40), (264, 200), (129, 264))
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
COUNT = 60


def main() -> int:
    device = torch.device("cuda")
    for number in range(COUNT):
        m = TOKENS[number % len(TOKENS)]
        n, k = FEATURES[number % len(FEATURES)]
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
    print(f"{COUNT} shapes agree with the reference on {torch.cuda.get_device_name()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
