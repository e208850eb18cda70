"""How one cell of the output projection is made, called, counted and checked."""

from collections.abc import Callable
from typing import Any

import solwatch.suite
from benchmarks.layers import Layer

ELEMENT_BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}


def projection_cell(
    tokens: int,
    layer: Layer,
    dtype: str,
    call: Callable[..., Any],
    explain: Callable[[str], dict[str, Any]] | None = None,
) -> solwatch.suite.Cell:
    """Return the cell for ``call(attn_output, residual, o_proj_weight, out)``; ``explain(device)`` tells what it runs.

    Inputs are N(0, 1), the weight scaled by 1/√K so that outputs stay near 1: zeros would draw less power than
    real data and run faster.
    """

    def make_inputs(device: str, seed: int) -> dict[str, Any]:
        import torch

        generator = torch.Generator(device=device).manual_seed(seed)

        def normal(rows: int, columns: int, scale: float = 1.0) -> Any:
            data = torch.randn(rows, columns, generator=generator, device=device, dtype=torch.float32)
            return (data * scale).to(getattr(torch, dtype))

        return {
            "attn_output": normal(tokens, layer.k),
            "residual": normal(tokens, layer.n),
            "o_proj_weight": normal(layer.n, layer.k, layer.k**-0.5),
            "out": torch.empty(tokens, layer.n, device=device, dtype=getattr(torch, dtype)),
        }

    return solwatch.suite.Cell(
        make_inputs=make_inputs,
        call=call,
        work=projection_work(tokens, layer, dtype),
        check=check_projection,
        explain=explain,
    )


def projection_work(tokens: int, layer: Layer, dtype: str) -> solwatch.suite.Work:
    """Count the work: 2·M·N·K for the product, M·N for the residual; each tensor moved once."""
    elements = tokens * layer.k + layer.n * layer.k + 2 * tokens * layer.n
    return solwatch.suite.Work(
        flops=2.0 * tokens * layer.n * layer.k + tokens * layer.n,
        traffic_bytes=float(elements * ELEMENT_BYTES[dtype]),
        dtype=dtype,
    )


def check_projection(attn_output: Any, residual: Any, o_proj_weight: Any, out: Any) -> None:
    """Raise ``AssertionError`` when ``out`` differs from the fp64 reference by more than its error bound."""
    from fused_o_proj.reference import check

    check(out, attn_output, residual, o_proj_weight)


def fused_cell(tokens: int, layer: Layer, dtype: str) -> solwatch.suite.Cell:
    """Return the cell of the op under test, which tells the kernel and the tile that its dispatch takes."""

    def explain(device: str) -> dict[str, Any]:
        import torch

        from fused_o_proj import explain

        shapes = [(tokens, layer.k), (tokens, layer.n), (layer.n, layer.k)]
        return explain(shapes, getattr(torch, dtype), device)

    return projection_cell(tokens, layer, dtype, fused, explain)


def fused(attn_output: Any, residual: Any, o_proj_weight: Any, out: Any) -> None:
    """Call the op under test."""
    from fused_o_proj import o_proj_residual

    o_proj_residual(attn_output, residual, o_proj_weight, out=out)
