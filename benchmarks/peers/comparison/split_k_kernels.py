"""The Triton kernels of the split-K peer, imported when they are asked for: Triton imports torch."""

import triton
import triton.language as tl


@triton.jit
def product(
    attn,  # descriptor of [tokens, k], blocks of [BLOCK_TOKENS, BLOCK_K]; beyond the edges it reads zeros
    weight,  # descriptor of [n, k], blocks of [BLOCK_ROWS, BLOCK_K]
    residual,  # [tokens, n]
    target,  # SPLIT: float32 [parts, tokens, n], else out [tokens, n]
    tokens,
    n,
    k,
    k_part,  # columns of k that one part takes, a multiple of BLOCK_K
    BLOCK_TOKENS: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,  # so many tiles of tokens meet a tile of weights one after the other, while it is in L2
    SWAPPED: tl.constexpr,  # the weight's rows are the rows of the matrix instruction, few tokens its narrow side
    SPLIT: tl.constexpr,
):
    """Multiply one tile over one part of k; a whole k gets its residual at once."""
    tile = tl.program_id(0)
    part = tl.program_id(1)
    token_tiles = tl.cdiv(tokens, BLOCK_TOKENS)
    row_tiles = tl.cdiv(n, BLOCK_ROWS)
    in_group = GROUP * row_tiles
    first = tile // in_group * GROUP
    height = min(token_tiles - first, GROUP)
    first_token = (first + tile % in_group % height) * BLOCK_TOKENS
    first_row = tile % in_group // height * BLOCK_ROWS
    if SWAPPED:
        sums = tl.zeros((BLOCK_ROWS, BLOCK_TOKENS), dtype=tl.float32)
    else:
        sums = tl.zeros((BLOCK_TOKENS, BLOCK_ROWS), dtype=tl.float32)
    start = part * k_part
    for column in range(start, min(start + k_part, k), BLOCK_K):
        rows = weight.load([first_row, column])
        activations = attn.load([first_token, column])
        if SWAPPED:
            sums = tl.dot(rows, activations.T, sums)
        else:
            sums = tl.dot(activations, rows.T, sums)
    token = first_token + tl.arange(0, BLOCK_TOKENS)
    row = first_row + tl.arange(0, BLOCK_ROWS)
    if SWAPPED:
        place = token[None, :] * n + row[:, None]
        inside = (token[None, :] < tokens) & (row[:, None] < n)
    else:
        place = token[:, None] * n + row[None, :]
        inside = (token[:, None] < tokens) & (row[None, :] < n)
    if SPLIT:
        tl.store(target + part * tokens * n + place, sums, mask=inside)
    else:
        sums += tl.load(residual + place, mask=inside).to(tl.float32)
        tl.store(target + place, sums.to(target.dtype.element_ty), mask=inside)


@triton.jit
def reduction(partial, residual, out, count, parts, BLOCK: tl.constexpr):
    """Add float32 [parts, count] in the order of the parts, then the residual; one rounding."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for part in range(parts):
        sums += tl.load(partial + part * count + place, mask=inside)
    sums += tl.load(residual + place, mask=inside).to(tl.float32)
    tl.store(out + place, sums.to(out.dtype.element_ty), mask=inside)
