"""A Triton kernel split along k: each part's product in float32, then one pass that adds them in order."""

import importlib
import importlib.util
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.peers.comparison.peer import Candidate, Case, Gpu

SHARED_BYTES = {9: 227 << 10, 8: 99 << 10, 10: 227 << 10, 12: 99 << 10}
"""Shared memory of a block by major compute capability, the least of each generation."""

REDUCED = 1024
"""Elements that one block of the reduction adds."""

COMPILERS = 8


@dataclass(frozen=True)
class Blocks:
    """What is compiled: a tile's size, the pipeline's stages, warps, and which operand has the instruction's rows."""

    tokens: int
    rows: int
    k: int
    stages: int
    warps: int
    swapped: bool

    @property
    def shared_bytes(self) -> int:
        """Of the pipeline's operands, two bytes an element."""
        return 2 * self.stages * self.k * (self.tokens + self.rows)


@dataclass(frozen=True)
class Configuration:
    """Blocks, and into how many parts k is cut."""

    blocks: Blocks
    parts: int

    def __str__(self) -> str:
        one = self.blocks
        swapped = " swapped" if one.swapped else ""
        return f"{one.tokens}x{one.rows}x{one.k}{swapped}, {one.stages} stages, {one.warps} warps, k in {self.parts}"

    def k_part(self, k: int) -> int:
        """Columns of k that a part takes, a multiple of the block's."""
        return -(-k // (self.parts * self.blocks.k)) * self.blocks.k


DECODE = [
    (64, 128, 4, 4),
    (64, 128, 6, 4),
    (64, 128, 10, 4),
    (64, 256, 3, 4),
    (64, 256, 5, 4),
    (128, 64, 6, 4),
    (128, 128, 3, 4),
    (128, 128, 4, 8),
]
"""Rows, k, stages, warps of tiles whose narrow side holds all tokens (16 to 128 of them)."""

PREFILL = [
    (128, 256, 64, 3, 8),
    (128, 256, 64, 4, 8),
    (256, 128, 64, 3, 8),
    (128, 128, 64, 4, 8),
    (128, 128, 64, 4, 4),
    (128, 128, 128, 3, 8),
    (64, 256, 64, 4, 4),
    (64, 128, 64, 4, 4),
    (64, 128, 128, 3, 4),
    (128, 64, 64, 5, 4),
]
"""Tokens, rows, k, stages, warps of the usual tiles."""

WAVES = (0.4, 4.5)
"""Splits that leave more than half of the SMs idle, or make more waves, are not tried; a whole k always is."""


def configurations(case: Case, gpu: Gpu) -> list[Configuration]:
    """Return what is tried for ``case`` on ``gpu``, at least one."""
    narrow = 16 if case.tokens <= 16 else 1 << math.ceil(math.log2(case.tokens))
    blocks = [Blocks(narrow, *each, True) for each in DECODE] if narrow <= 128 else []
    if case.tokens > 32:
        blocks += [Blocks(*each, False) for each in PREFILL]
    limit = SHARED_BYTES.get(gpu.capability[0], 48 << 10)
    found = []
    for one in blocks:
        if one.shared_bytes > limit:
            continue
        tiles = -(-case.tokens // one.tokens) * -(-case.shape.n // one.rows)
        for parts in (1, 2, 4, 8, 16):
            made = Configuration(one, parts)
            steps = made.k_part(case.shape.k) // one.k
            filled = (parts - 1) * made.k_part(case.shape.k) < case.shape.k
            if parts == 1 or (filled and steps >= 2 and WAVES[0] <= tiles * parts / gpu.sm_count <= WAVES[1]):
                found.append(made)
    return found


class SplitKPeer:
    """Every configuration is a candidate; their kernels are compiled side by side first."""

    name = "Triton"
    summary = "a Triton kernel, k split into float32 parts that a second kernel adds in order, swept over tiles"
    limit_s = 120.0

    def __init__(self) -> None:
        """Import nothing yet."""
        self._gpu: Gpu | None = None

    def obstacle(self, gpu: Gpu) -> str | None:
        """Return what is missing."""
        self._gpu = gpu
        if importlib.util.find_spec("triton") is None:
            return "triton is not installed: pip install triton"
        if importlib.util.find_spec("triton.tools.tensor_descriptor") is None:
            return "triton is too old: pip install 'triton>=3.4'"
        if gpu.capability < (8, 0):
            return f"needs sm_80 or newer, this GPU is sm_{gpu.capability[0]}{gpu.capability[1]}"
        return None

    def candidates(self, case: Case) -> Sequence[Candidate]:
        """Return the configurations for ``case``, compiled."""
        if self._gpu is None:
            return []
        kernels = importlib.import_module("benchmarks.peers.comparison.split_k_kernels")
        chosen = configurations(case, self._gpu)
        _compile(kernels, chosen, case)
        return [Candidate(str(one), partial(multiply, kernels, one)) for one in chosen]


def multiply(
    kernels: Any,
    configuration: Configuration,
    attn_output: Any,
    residual: Any,
    o_proj_weight: Any,
    out: Any,
    inout: Any,
    warm_up: bool = False,
) -> Any:
    """Compute the op into ``out`` and return it; ``warm_up`` compiles for such tensors and launches nothing."""
    import torch
    from triton.tools.tensor_descriptor import TensorDescriptor

    one, parts = configuration.blocks, configuration.parts
    tokens, k = attn_output.shape
    n = o_proj_weight.shape[0]
    grid = (-(-tokens // one.tokens) * -(-n // one.rows), parts)
    target = out
    if parts > 1:
        target = torch.empty(parts, tokens, n, dtype=torch.float32, device=out.device)
    product = partial(kernels.product.warmup, grid=grid) if warm_up else kernels.product[grid]
    product(
        TensorDescriptor.from_tensor(attn_output, [one.tokens, one.k]),
        TensorDescriptor.from_tensor(o_proj_weight, [one.rows, one.k]),
        residual, target, tokens, n, k, configuration.k_part(k),
        BLOCK_TOKENS=one.tokens, BLOCK_ROWS=one.rows, BLOCK_K=one.k, GROUP=8, SWAPPED=one.swapped, SPLIT=parts > 1,
        num_stages=one.stages, num_warps=one.warps,
    )  # fmt: skip
    if parts > 1 and not warm_up:
        kernels.reduction[(-(-out.numel() // REDUCED),)](
            target, residual, out, out.numel(), parts, BLOCK=REDUCED, num_warps=4
        )
    return out


def _compile(kernels: Any, chosen: Sequence[Configuration], case: Case) -> None:
    """Compile each distinct kernel once, several at a time: ptxas is a process of its own."""
    import torch

    def empty(rows: int, columns: int) -> Any:
        return torch.empty(rows, columns, dtype=getattr(torch, case.dtype), device="cuda")

    k, n = case.shape
    tensors = {
        "attn_output": empty(case.tokens, k),
        "residual": empty(case.tokens, n),
        "o_proj_weight": empty(n, k),
        "out": empty(case.tokens, n),
        "inout": None,
    }
    device = torch.cuda.current_device()

    def compiled(one: Configuration) -> None:
        with torch.cuda.device(device):  # a thread of its own begins with the first GPU
            multiply(kernels, one, **tensors, warm_up=True)

    distinct = {(one.blocks, one.parts > 1): one for one in chosen}
    with ThreadPoolExecutor(COMPILERS) as pool:
        list(pool.map(compiled, distinct.values()))
