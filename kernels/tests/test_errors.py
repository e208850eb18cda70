"""Wrong calls: the argument is named, what was given and what is wanted; nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import fused_o_proj
from fused_o_proj import explain, o_proj_residual

RAW = torch.ops.fused_o_proj.o_proj_residual


def inputs(device: torch.device) -> dict[str, Tensor]:
    """attn[4, 16], residual[4, 8], weight[8, 16], out[4, 8] full of 7."""
    return {
        "attn_output": torch.ones(4, 16, device=device),
        "residual": torch.ones(4, 8, device=device),
        "o_proj_weight": torch.ones(8, 16, device=device),
        "out": torch.full((4, 8), 7.0, device=device),
    }


def call(given: dict[str, Any]) -> None:
    given = dict(given)
    out = given.pop("out")
    o_proj_residual(*given.values(), out=out)


def call_raw(given: dict[str, Any]) -> None:
    given = dict(given)
    out = given.pop("out")
    RAW.out(*given.values(), out=out)


WRONG: list[tuple[str, Callable[[Tensor], Tensor], str]] = [
    *[
        (name, lambda t: t.half(), rf"{name} has dtype .*float16, wanted .*float32")
        for name in ("residual", "o_proj_weight", "out")
    ],
    *[
        (name, lambda t: t.double(), rf"{name} has dtype (torch.float64|Double), wanted bfloat16, float16 or float32")
        for name in inputs(torch.device("cpu"))
    ],
    ("attn_output", lambda t: t[:, :15], r"o_proj_weight has shape .8, 16., wanted .N, 15. for attn_output .4, 15."),
    ("attn_output", lambda t: t[0, 0], r"attn_output has shape .., wanted at least one dimension"),
    ("o_proj_weight", lambda t: t[0], r"o_proj_weight has shape .16,?., wanted .N, 16."),
    ("o_proj_weight", lambda t: t[:5], r"residual has shape .4, 8., wanted .4, 5."),
    ("residual", lambda t: t[:3], r"residual has shape .3, 8., wanted .4, 8."),
    ("residual", lambda t: t[None], r"residual has shape .1, 4, 8., wanted .4, 8."),
    ("out", lambda t: t[:, :7], r"out has shape .4, 7., wanted .4, 8."),
    ("out", lambda t: t[0], r"out has shape .8,?., wanted .4, 8."),
]


@pytest.mark.parametrize(("name", "change", "message"), WRONG)
@pytest.mark.parametrize("caller", [call, call_raw])
def test_dtypes_and_shapes(
    caller: Callable[[dict[str, Any]], None],
    name: str,
    change: Callable[[Tensor], Tensor],
    message: str,
    device: torch.device,
) -> None:
    given = inputs(device)
    out = given["out"]
    given[name] = change(given[name])
    kinds = (RuntimeError,) if caller is call_raw else (TypeError, ValueError)
    with pytest.raises(kinds, match=message):
        caller(given)
    assert bool((out == 7.0).all())


@pytest.mark.parametrize(
    ("dtype", "told"),
    [(torch.int64, "Long"), (torch.complex64, "ComplexFloat"), (torch.float8_e8m0fnu, "Float8_e8m0fnu")],
    ids=str,
)
def test_the_operator_itself_names_a_dtype(dtype: torch.dtype, told: str, device: torch.device) -> None:
    given = inputs(device)
    given["residual"] = torch.empty(4, 8, dtype=dtype, device=device)
    with pytest.raises(RuntimeError, match=f"residual has dtype {told}, wanted bfloat16, float16 or float32"):
        call_raw(given)


@pytest.mark.parametrize("name", ["attn_output", "residual", "o_proj_weight", "out"])
def test_not_a_tensor(name: str) -> None:
    given: dict[str, Any] = dict(inputs(torch.device("cpu")))
    given[name] = [1.0]
    with pytest.raises(TypeError, match=rf"{name} is a list, wanted a torch.Tensor"):
        call(given)


@pytest.mark.parametrize("name", ["residual", "o_proj_weight", "out"])
def test_another_device(name: str) -> None:
    given = inputs(torch.device("cpu"))
    given[name] = given[name].to("meta")
    with pytest.raises(ValueError, match=rf"{name} is on meta, wanted cpu, the device of attn_output"):
        call(given)


@pytest.mark.parametrize("on_meta", ["attn_output", "residual", "o_proj_weight", "out"])
@pytest.mark.parametrize("caller", [call, call_raw])
def test_some_on_meta(caller: Callable[[dict[str, Any]], None], on_meta: str, device: torch.device) -> None:
    given = inputs(device)
    given[on_meta] = given[on_meta].to("meta")
    with pytest.raises(ValueError, match=r"is on (meta|cpu|cuda:0), wanted (meta|cpu|cuda:0), the device of attn"):
        caller(given)
    del given["out"]
    if on_meta in given:
        with pytest.raises(ValueError, match=r"is on (meta|cpu|cuda:0), wanted (meta|cpu|cuda:0), the device of attn"):
            RAW.default(*given.values())


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["residual", "o_proj_weight", "out"])
def test_another_device_in_the_operator_itself(name: str, cuda: torch.device) -> None:
    given = inputs(cuda)
    given[name] = given[name].cpu()
    with pytest.raises(RuntimeError, match=rf"{name} is on cpu, wanted cuda:0, the device of attn_output"):
        call_raw(given)


def overlapping(device: torch.device) -> list[tuple[str, dict[str, Tensor]]]:
    """Calls whose out shares memory with what it must not."""
    square = torch.ones(8, 8, device=device)
    buffer = torch.ones(9, 8, device=device)
    rows = torch.ones(1, 8, device=device)

    def given(attn: Tensor, residual: Tensor, weight: Tensor, out: Tensor) -> dict[str, Tensor]:
        return {"attn_output": attn, "residual": residual, "o_proj_weight": weight, "out": out}

    other = torch.ones(8, 8, device=device)
    return [
        ("attn_output", given(square, other, other.clone(), square)),
        ("o_proj_weight", given(other, other.clone(), square, square)),
        ("residual", given(other, buffer[:8], square, buffer[1:])),
        ("residual", given(other, square.t(), other.clone(), square)),
        ("elements that share memory", given(other, square, other.clone(), rows.expand(8, 8))),
    ]


@pytest.mark.parametrize("number", range(5))
def test_overlapping_memory_is_told_by_the_fake_kernel(number: int) -> None:
    named, given = overlapping(torch.device("meta"))[number]
    with pytest.raises(RuntimeError, match=rf"out (shares memory with {named}|has {named})"):
        call_raw(given)


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("caller", [call, call_raw])
def test_overlapping_memory(caller: Callable[[dict[str, Any]], None], number: int, device: torch.device) -> None:
    named, given = overlapping(device)[number]
    with pytest.raises(RuntimeError, match=rf"out (shares memory with {named}|has {named})"):
        caller(given)
    assert bool((given["out"] == 1.0).all())


@pytest.mark.parametrize("number", range(5))
def test_overlapping_memory_is_told_by_a_trace(number: int, device: torch.device) -> None:
    named, given = overlapping(device)[number]
    torch.compiler.reset()
    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    with pytest.raises(RuntimeError, match=rf"out (shares memory with {named}|has {named})"):
        compiled(given)
    assert bool((given["out"] == 1.0).all())


@pytest.mark.parametrize(("name", "change", "message"), WRONG)
def test_the_fake_kernel_checks_dtypes_and_shapes(name: str, change: Callable[[Tensor], Tensor], message: str) -> None:
    given = inputs(torch.device("meta"))
    given[name] = change(given[name])
    with pytest.raises((TypeError, ValueError), match=message):
        call_raw(given)


@pytest.mark.parametrize("name", ["attn_output", "residual", "o_proj_weight", "out"])
@pytest.mark.parametrize("change", [Tensor.requires_grad_, lambda t: t.requires_grad_() * 1], ids=["leaf", "computed"])
@pytest.mark.parametrize("caller", [call, call_raw])
def test_a_gradient_is_refused(
    caller: Callable[[dict[str, Any]], None], change: Callable[[Tensor], Tensor], name: str, device: torch.device
) -> None:
    given = inputs(device)
    given[name] = change(given[name])
    with pytest.raises(RuntimeError, match=rf"{name} requires grad, wanted none"):
        caller(given)
    with torch.no_grad():
        caller(given)


def test_a_gradient_is_refused_in_the_operator_itself_without_out(device: torch.device) -> None:
    given = inputs(device)
    given["o_proj_weight"].requires_grad_()
    del given["out"]
    with pytest.raises(RuntimeError, match="o_proj_weight requires grad, wanted none"):
        RAW.default(*given.values())


def test_inference_mode() -> None:
    weight = torch.nn.Parameter(torch.ones(8, 16))
    with torch.inference_mode():
        assert o_proj_residual(torch.ones(4, 16), torch.ones(4, 8), weight).shape == (4, 8)


@pytest.mark.skipif(fused_o_proj.build_info()["kind"] == "cuda", reason="this build has CUDA kernels")
def test_a_cpu_build_says_so() -> None:
    with pytest.raises(RuntimeError, match="this build has no CUDA kernels"):
        explain(((4, 16), (4, 8), (8, 16)), torch.bfloat16, "cuda:0")


def too_large(device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs of a few bytes whose result would take 8 PB."""
    m, n = 2**26, 2**26
    attn = torch.ones(1, 8, device=device, dtype=torch.bfloat16).expand(m, 8)
    residual = torch.ones(1, 1, device=device, dtype=torch.bfloat16).expand(m, n)
    return attn, residual, torch.ones(1, 8, device=device, dtype=torch.bfloat16).expand(n, 8)


def test_out_of_memory_is_told(device: torch.device) -> None:
    """As torch tells it, before anything is launched, and the next call works."""
    kind, text = {
        "cpu": (RuntimeError, "can't allocate memory"),
        "cuda": (torch.OutOfMemoryError, "out of memory"),
    }[device.type]
    with pytest.raises(kind, match=text):
        o_proj_residual(*too_large(device))
    call(inputs(device))


def test_out_of_memory_has_torchs_own_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Tensor:
        raise torch.OutOfMemoryError("the device is full")

    monkeypatch.setattr(Tensor, "new_empty", full)
    with pytest.raises(torch.OutOfMemoryError, match="the device is full"):
        o_proj_residual(*too_large(torch.device("cpu")))


def test_another_failure_allocates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tensor, "new_empty", lambda *_: pytest.fail("allocated"))
    with pytest.raises(RuntimeError, match="out shares memory"):
        call(overlapping(torch.device("cpu"))[0][1])
