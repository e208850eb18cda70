"""Poisoning the output: always where it is an output only, also when all tensors lie in one pool."""

import pytest
import torch

from solwatch.device.preparing import poison


def in_pool() -> dict[str, torch.Tensor]:
    pool = torch.zeros(64)
    return {"x": pool[:16], "out": pool[32:48]}


@pytest.mark.parametrize("tensors", [{"x": torch.zeros(16), "out": torch.zeros(16)}, in_pool()])
def test_an_output_of_its_own_is_filled(tensors: dict[str, torch.Tensor]) -> None:
    assert poison(tensors)
    assert bool(tensors["out"].isnan().all())
    assert not bool(tensors["x"].isnan().any())


def test_an_output_in_place_is_an_input_too_and_is_left_alone() -> None:
    x = torch.zeros(4, 4)
    for out in (x, x[1:3], x.t()):
        assert not poison({"x": x, "out": out})
    assert not bool(x.isnan().any())


@pytest.mark.parametrize(("dtype", "value"), [(torch.int8, -128), (torch.int64, -(2**63)), (torch.bool, True)])
def test_what_has_no_nan_gets_its_least_value(dtype: torch.dtype, value: int) -> None:
    out = torch.zeros(3, dtype=dtype)
    assert poison({"out": out})
    assert out.tolist() == [value] * 3


def test_without_an_output_or_with_an_empty_one_nothing_happens() -> None:
    assert not poison({"x": torch.zeros(3)})
    assert not poison({"out": 3})
    assert poison({"x": torch.zeros(3), "out": torch.empty(0)})
