"""What the operator should have returned, and how far from it is right.

Right means two things, both from the rounded inputs in float64:

* every element is within ``u * |ref| + K * 2^-23 * (|A| |W|^T)`` of the reference, the worst that
  float32 accumulation in any order and one rounding can do (u: 2^-8 bfloat16, 2^-10 float16,
  2^-23 float32);
* in every stretch of 64 features of a row, the root mean square error is within that of
  ``u * |ref| + sqrt(K) * 2^-23 * |A_i| |W_j|``, what such errors do when they are not in league. It
  is what catches a few wrong products at large K, where the first bound is loose.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fused_o_proj._arguments import check_call

__all__ = ["Mismatch", "check", "reference", "tolerance"]

RELATIVE_UNIT = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-10, torch.float32: 2.0**-23}
ACCUMULATOR_UNIT = 2.0**-23
BLOCK = 64  # features of a stretch
BLOCK_ELEMENTS = 1 << 24  # float64 elements of a working block: 128 MiB
FULL_FLOPS = {"cuda": 4.0e12, "cpu": 2.0e10}  # a check in full takes a second or so
FULL_TOKENS = 64
SAMPLED_ROWS = 64
CERTAINTY = 8.0  # standard deviations: 2 exp(-8^2 / 2) = 3e-14 false alarms a stretch (Hoeffding)


class Mismatch(AssertionError):
    """The operator's result is wrong; the message names the worst element in one line."""


@dataclass(frozen=True)
class _Case:
    """One call as matrices: actual[M, N], attn[M, K], residual[M, N], weight[N, K]."""

    actual: Tensor
    attn: Tensor
    residual: Tensor
    weight: Tensor
    told: str  # dtype and sizes of the whole call, for messages

    @property
    def k(self) -> int:
        return self.weight.shape[1]

    def typical_error(self, values: Tensor, row_sizes: Tensor, column_sizes: Tensor) -> Tensor:
        """Return the limit on the root mean square error; sizes as from ``_norms``."""
        limits = torch.finfo(self.actual.dtype)
        half_step = limits.smallest_normal * limits.eps / 2
        rounding = RELATIVE_UNIT[self.actual.dtype] * values.abs() + half_step
        return rounding + row_sizes[:, None] * column_sizes


def reference(attn_output: Tensor, residual: Tensor, o_proj_weight: Tensor) -> Tensor:
    """Return ``attn_output @ o_proj_weight.T + residual`` in float64, [..., N], unrounded.

    Memory: the result and a few blocks of 128 MiB. Raises what the operator raises.
    """
    check_call(attn_output, residual, o_proj_weight, None)
    case = _as_case(residual, attn_output, residual, o_proj_weight)
    result = torch.empty(case.residual.shape, dtype=torch.float64, device=residual.device)
    for rows, columns in _blocks(case):
        result[rows, columns] = _expected(case, rows, columns)[0]
    return result.reshape(residual.shape)


def tolerance(ref: Tensor, bound: Tensor, k: int, dtype: torch.dtype) -> Tensor:
    """Return the largest right error of each element; ``bound`` is ``|A| |W|^T`` (float64).

    Below the smallest normal number the dtype's grid is even: half a step of it is added.
    """
    limits = torch.finfo(dtype)
    half_step = limits.smallest_normal * limits.eps / 2
    return RELATIVE_UNIT[dtype] * ref.abs() + k * ACCUMULATOR_UNIT * bound + half_step


def check(actual: Tensor, attn_output: Tensor, residual: Tensor, o_proj_weight: Tensor) -> None:
    """Raise Mismatch unless ``actual`` is a right result of the operator for these inputs.

    Up to 64 tokens, or where 4 M N K stays under a second's work (4e12 on a GPU, 2e10 on a CPU),
    every element is compared. Beyond, every element takes part in a signed sum over its stretch of
    64 features (Freivalds' check with fixed random signs: an element off by a quarter of its
    neighbours' size shows, a wrong tile does at far less), and 64 rows are compared in full: the
    first, the last, the edges of tiles of 64 and seeded random ones, and rows with a non-finite
    value. Inputs must be those of the call: with ``out=residual`` pass a copy of the residual.
    """
    check_call(attn_output, residual, o_proj_weight, actual)
    case = _as_case(actual, attn_output, residual, o_proj_weight)
    m, n = case.actual.shape
    if m == 0 or n == 0:
        return
    if m <= FULL_TOKENS or 4.0 * m * n * case.k <= FULL_FLOPS.get(actual.device.type, 0.0):
        _check_elements(case, torch.arange(m, device=actual.device))
        return
    rows = _sampled_rows(case)
    chosen = _Case(case.actual[rows], case.attn[rows], case.residual[rows], case.weight, case.told)
    _check_elements(chosen, rows)
    _check_signed_sums(case)


def _as_case(actual: Tensor, attn: Tensor, residual: Tensor, weight: Tensor) -> _Case:
    n, k = weight.shape
    m = residual.shape[:-1].numel()
    dtype = str(actual.dtype).removeprefix("torch.")
    return _Case(
        actual.detach().reshape(m, n),
        attn.detach().reshape(m, k),
        residual.detach().reshape(m, n),
        weight.detach(),
        f"{dtype}, M={m}, N={n}, K={k}",
    )


def _blocks(case: _Case) -> list[tuple[slice, slice]]:
    """Cut [M, N] so that no float64 working block exceeds BLOCK_ELEMENTS by much."""
    m, n = case.residual.shape
    deep = max(1, BLOCK_ELEMENTS // max(1, case.k))
    high, wide = min(deep, 4096), max(BLOCK, min(deep, 4096) // BLOCK * BLOCK)
    return [
        (slice(row, row + high), slice(column, column + wide))
        for row in range(0, m, high)
        for column in range(0, n, wide)
    ]


def _expected(case: _Case, rows: slice, columns: slice) -> tuple[Tensor, Tensor]:
    """Return the reference and ``|A| |W|^T`` of a block, float64."""
    attn, weight = case.attn[rows].double(), case.weight[columns].double()
    ref = attn @ weight.T + case.residual[rows, columns].double()
    return ref, attn.abs() @ weight.abs().T


def _check_elements(case: _Case, row_numbers: Tensor) -> None:
    """Compare every element of the case; ``row_numbers`` are the rows' places in the whole."""
    largest = torch.finfo(case.actual.dtype).max
    row_sizes, column_sizes = _norms(case)
    for rows, columns in _blocks(case):
        actual = case.actual[rows, columns].double()
        ref, bound = _expected(case, rows, columns)
        allowed = tolerance(ref, bound, case.k, case.actual.dtype)
        error = (actual - ref).abs()
        right = error <= allowed
        right |= actual.isnan() & ref.isnan()
        right |= actual == ref  # the same infinity
        # Beyond the largest finite number by rounding: infinity is right, and so is the number.
        right |= actual.isinf() & (actual.sign() == ref.sign()) & (ref.abs() + allowed > largest)
        if not bool(right.all()):
            worst = torch.where(right, -1.0, (error / allowed).nan_to_num(nan=float("inf")))
            row, column = divmod(int(worst.argmax()), worst.shape[1])
            raise Mismatch(
                f"o_proj_residual is wrong at [{int(row_numbers[rows][row])}, "
                f"{columns.start + column}]: {actual[row, column].item():.9g}, wanted "
                f"{ref[row, column].item():.9g} within {allowed[row, column].item():.3g} (error "
                f"{error[row, column].item():.3g}; {int((~right).sum())} of {right.numel()} "
                f"elements here are wrong; {case.told})"
            )
        sigma = case.typical_error(ref, row_sizes[rows], column_sizes[columns])
        finite = error.isfinite() & sigma.isfinite()
        error, sigma = error.where(finite, 0.0), sigma.where(finite, 0.0)
        _check_stretches(
            "root of summed squared errors",
            _stretches(error.square()).sum(2).sqrt(),
            _stretches(sigma.square()).sum(2).sqrt(),
            row_numbers[rows],
            columns.start,
            case,
        )


def _norms(case: _Case) -> tuple[Tensor, Tensor]:
    """Return the factors of the accumulators' typical error: sqrt(K) 2^-23 |A_i| and |W_j|."""
    scale = case.k**0.5 * ACCUMULATOR_UNIT
    step = max(1, BLOCK_ELEMENTS // max(1, case.k))
    row = torch.cat([part.double().norm(dim=1) for part in torch.split(case.attn, step)])
    column = torch.cat([part.double().norm(dim=1) for part in torch.split(case.weight, step)])
    return scale * row, column


def _stretches(values: Tensor) -> Tensor:
    """[M, N] -> [M, ceil(N / 64), 64], zeros at the end."""
    padding = -values.shape[1] % BLOCK
    padded = torch.nn.functional.pad(values, (0, padding))
    return padded.reshape(values.shape[0], padded.shape[1] // BLOCK, BLOCK)


def _check_stretches(
    what: str, value: Tensor, limit: Tensor, row_numbers: Tensor, first_column: int, case: _Case
) -> None:
    """Raise Mismatch where value > limit (or NaN), both [M, stretches]."""
    wrong = ~(value <= limit)
    if not bool(wrong.any()):
        return
    worst = torch.where(wrong, (value / limit).nan_to_num(nan=float("inf")), -1.0)
    row, stretch = divmod(int(worst.argmax()), worst.shape[1])
    column = first_column + stretch * BLOCK
    last = min(column + BLOCK, case.actual.shape[1]) - 1
    raise Mismatch(
        f"o_proj_residual is wrong at [{int(row_numbers[row])}, {column}..{last}]: {what} is "
        f"{value[row, stretch].item():.3g}, limit {limit[row, stretch].item():.3g} "
        f"({int(wrong.sum())} of {wrong.numel()} such stretches; {case.told})"
    )


def _sampled_rows(case: _Case) -> Tensor:
    m = case.actual.shape[0]
    generator = torch.Generator().manual_seed(m)
    edges = torch.tensor([0, m - 1, 63, 64, 127, 128, m // 2 - 1, m // 2])
    random = torch.randint(m, (SAMPLED_ROWS - len(edges),), generator=generator)
    rows = torch.cat([edges.clamp(0, m - 1), random]).to(case.actual.device)
    odd = (~case.actual.isfinite().all(dim=1)).nonzero().flatten()[:SAMPLED_ROWS]
    return torch.cat([rows, odd])


def _check_signed_sums(case: _Case) -> None:
    """Compare sum_j s_j out[i, j] over stretches of 64 features, s_j = ±1, with A (W^T s) + r s.

    If the errors of a stretch have root mean square sigma, such a sum exceeds 8 sqrt(64) sigma with
    probability 3e-14 only: the signs are drawn independently of the kernel.
    """
    m, n = case.actual.shape
    device = case.actual.device
    generator = torch.Generator().manual_seed(n)
    signs = (torch.randint(2, (n,), generator=generator) * 2 - 1).double().to(device)
    step = max(1, BLOCK_ELEMENTS // max(1, case.k) // BLOCK) * BLOCK
    summed = torch.cat(  # W^T s over each stretch: [stretches, K]
        [
            _stretches((case.weight[i : i + step].double() * signs[i : i + step, None]).T).sum(2).T
            for i in range(0, n, step)
        ]
    )
    row_sizes, column_sizes = _norms(case)
    high = max(1, BLOCK_ELEMENTS // max(n, case.k, 1))
    for first in range(0, m, high):
        rows = slice(first, first + high)
        actual = case.actual[rows].double()
        finite = actual.isfinite().all(dim=1)  # the other rows were compared in full
        expected = case.attn[rows].double() @ summed.T
        expected += _stretches(case.residual[rows].double() * signs).sum(2)
        off = (_stretches(actual * signs).sum(2) - expected).abs()
        sigma = case.typical_error(actual, row_sizes[rows], column_sizes)
        limit = CERTAINTY * _stretches(sigma.square()).sum(2).sqrt()
        _check_stretches(
            "signed sum's error",
            off[finite],
            limit[finite],
            torch.arange(m, device=device)[rows][finite],
            0,
            case,
        )
