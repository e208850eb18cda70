"""What torch asks of an operator: schema, fake kernels, compile, export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._dynamo.testing
from torch import Tensor

from fused_o_proj import o_proj_residual

RAW = torch.ops.fused_o_proj.o_proj_residual


def test_opcheck(dtype: torch.dtype, device: torch.device, make_inputs: Callable[..., Any]) -> None:
    inputs = make_inputs(5, 24, 40, dtype, device)
    torch.library.opcheck(RAW.default, inputs.args())
    torch.library.opcheck(RAW.out, inputs.args(), {"out": torch.empty_like(inputs.residual)})


def new(attn: Tensor, residual: Tensor, weight: Tensor) -> Tensor:
    return o_proj_residual(attn, residual, weight) * 2


def into_out(attn: Tensor, residual: Tensor, weight: Tensor) -> Tensor:
    return o_proj_residual(attn, residual, weight, out=torch.empty_like(residual)) * 2


def in_place(attn: Tensor, residual: Tensor, weight: Tensor) -> Tensor:
    return o_proj_residual(attn, residual, weight, out=residual) * 2


@pytest.mark.parametrize("function", [new, into_out, in_place])
def test_compile(function: Callable[..., Tensor], device: torch.device, make_inputs: Callable[..., Any]) -> None:
    torch.compiler.reset()
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    for m in (3, 8):
        inputs = make_inputs(m, 24, 40, torch.bfloat16, device)
        wanted = function(inputs.attn, inputs.residual.clone(), inputs.weight)
        residual = inputs.residual.clone()
        assert torch.equal(compiled(inputs.attn, residual, inputs.weight), wanted)
        changed = not torch.equal(residual, inputs.residual)
        assert changed == (function is in_place)


@pytest.mark.slow
@pytest.mark.skipif(" " in torch.__file__, reason="inductor can't link where its own path has a space")
def test_compile_with_inductor(device: torch.device, make_inputs: Callable[..., Any]) -> None:
    torch.compiler.reset()
    compiled = torch.compile(new, fullgraph=True)
    inputs = make_inputs(3, 24, 40, torch.bfloat16, device)
    assert torch.equal(compiled(*inputs.args()), new(*inputs.args()))


@pytest.mark.parametrize("function", [new, into_out, in_place])
@pytest.mark.parametrize("wrap", [lambda function: function, torch.compile(backend="aot_eager", fullgraph=True)])
def test_autocast_changes_nothing(
    wrap: Callable[..., Any],
    function: Callable[..., Tensor],
    dtype: torch.dtype,
    device: torch.device,
    make_inputs: Callable[..., Any],
) -> None:
    torch.compiler.reset()
    inputs = make_inputs(3, 24, 40, dtype, device)
    wanted = function(inputs.attn, inputs.residual.clone(), inputs.weight)
    other = torch.float16 if dtype == torch.bfloat16 else torch.bfloat16
    with torch.autocast(device.type, other):
        actual = wrap(function)(inputs.attn, inputs.residual.clone(), inputs.weight)
    assert actual.dtype == dtype
    assert torch.equal(actual, wanted)


def test_vmap(device: torch.device, make_inputs: Callable[..., Any]) -> None:
    inputs = make_inputs(6, 24, 40, torch.float32, device)
    attn, residual = inputs.attn.view(2, 3, 40), inputs.residual.view(2, 3, 24)
    mapped = torch.vmap(o_proj_residual, in_dims=(0, 0, None))(attn, residual, inputs.weight)
    assert torch.equal(
        mapped, torch.stack([o_proj_residual(*pair, inputs.weight) for pair in zip(attn, residual, strict=True)])
    )
    with pytest.raises(RuntimeError, match=r"Batching rule not implemented for fused_o_proj::o_proj_residual\.out"):
        torch.vmap(into_out, in_dims=(0, 0, None))(attn, residual, inputs.weight)


class Layer(torch.nn.Module):
    """The operator as a model has it."""

    def forward(self, attn: Tensor, residual: Tensor, weight: Tensor) -> Tensor:
        return o_proj_residual(attn, residual, weight)


def test_export(device: torch.device, make_inputs: Callable[..., Any]) -> None:
    inputs = make_inputs(4, 24, 40, torch.bfloat16, device)
    tokens = torch.export.Dim("tokens", min=2, max=64)
    exported = torch.export.export(Layer(), inputs.args(), dynamic_shapes=({0: tokens}, {0: tokens}, None))
    targets = [node.target for node in exported.graph.nodes if node.op == "call_function"]
    assert RAW.default in targets
    more = make_inputs(9, 24, 40, torch.bfloat16, device)
    assert torch.equal(exported.module()(*more.args()), o_proj_residual(*more.args()))


def separate(device: torch.device) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Calls whose out shares a storage with inputs, and no memory but residual's own."""
    wide, tall, square = (torch.ones(*shape, device=device) for shape in ((8, 24), (24, 8), (8, 8)))
    return [
        (wide[:, :8], wide[:, 8:16], square, wide[:, 16:]),
        (tall[:8], tall[8:16], square, tall[16:]),
        (tall[:8], tall[8:16], square, tall[8:16]),
        (square[:1].expand(8, 8), square, tall[:8], wide[:, :16].unflatten(1, (2, 8))[:, 1]),
    ]


@pytest.mark.parametrize("number", range(4))
def test_the_fake_kernel_allows_what_the_operator_allows(number: int, device: torch.device) -> None:
    for where in (device, torch.device("meta")):
        *inputs, out = separate(where)[number]
        RAW.out(*inputs, out=out)


def test_a_trace_with_an_out_keeps_its_sizes_free(device: torch.device, make_inputs: Callable[..., Any]) -> None:
    torch.compiler.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(in_place, fullgraph=True, backend=counter, dynamic=True)
    for m in (3, 8, 17):
        inputs = make_inputs(m, 24, 40, torch.bfloat16, device)
        compiled(inputs.attn, inputs.residual, inputs.weight)
    assert counter.frame_count == 1


def test_fake_kernels_check_shapes() -> None:
    attn, residual, weight = (torch.empty(s, device="meta") for s in ((4, 16), (4, 8), (8, 16)))
    assert RAW.default(attn, residual, weight).shape == (4, 8)
    with pytest.raises(ValueError, match="residual has shape"):
        RAW.default(attn, residual[:3], weight)
