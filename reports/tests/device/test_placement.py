"""Buffer sets in a pool: same contents, strides and aliasing, never overlapping, elsewhere at every draw."""

import itertools
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from solwatch.device.placement import ALIGNMENT_BYTES, STEP_BYTES, Placement

POOL = torch.zeros(96 << 20, dtype=torch.uint8)


def placed(source: dict[str, Any], *, seed: int = 1, pool: torch.Tensor = POOL, rotation_bytes: int = 1) -> Placement:
    return Placement(source, pool, seed=seed, most_sets=8, rotation_bytes=rotation_bytes)


def byte_range(tensor: torch.Tensor) -> tuple[int, int]:
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr(), tensor.data_ptr() + (last + 1) * tensor.element_size()


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 300),
    columns=st.integers(1, 700),
    offset=st.integers(0, 40),
    dtype=st.sampled_from([torch.float32, torch.bfloat16, torch.int8, torch.float64]),
    transposed=st.booleans(),
)
def test_copies_equal_the_source_and_do_not_overlap(
    seed: int, rows: int, columns: int, offset: int, dtype: torch.dtype, transposed: bool
) -> None:
    backing = torch.randint(-100, 100, (rows * columns + offset,)).to(dtype)
    view = backing[offset:].view(rows, columns)
    source = {"view": view.t() if transposed else view, "other": torch.arange(columns), "scale": 2.5}
    sets = placed(source, seed=seed).draw()
    assert len(sets) == 2
    ranges = []
    for tensors in sets:
        assert tensors["scale"] == 2.5
        for name in ("view", "other"):
            copy, original = tensors[name], source[name]
            assert torch.equal(copy, original)
            assert copy.stride() == original.stride()
            assert copy.data_ptr() != original.data_ptr()
            ranges.append(byte_range(copy))
    ranges.sort()
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ranges))
    pool_start, pool_end = byte_range(POOL)
    assert ranges[0][0] >= pool_start
    assert ranges[-1][1] <= pool_end


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), shift=st.integers(0, 255))
def test_a_copy_keeps_the_alignment_of_its_source(seed: int, shift: int) -> None:
    backing = torch.zeros(5000, dtype=torch.uint8)
    base = -backing.data_ptr() % ALIGNMENT_BYTES
    source = {"x": backing[base + shift : base + shift + 100]}
    whole = {"x": backing[shift : shift + 100]}
    for tensors, origin in ((placed(source, seed=seed).draw()[0], base + shift), (placed(whole).draw()[0], shift)):
        assert tensors["x"].data_ptr() % ALIGNMENT_BYTES == origin % ALIGNMENT_BYTES


def test_tensors_that_share_memory_share_it_in_every_copy() -> None:
    residual = torch.zeros(64, 64)
    source = {"residual": residual, "out": residual, "row": residual[3]}
    for tensors in placed(source).draw():
        tensors["out"].fill_(7)
        assert tensors["residual"].eq(7).all()
        assert tensors["row"].eq(7).all()
    assert residual.eq(0).all()


def test_every_draw_is_elsewhere_and_the_same_seed_draws_the_same() -> None:
    source = {"x": torch.ones(1000)}
    first, same, other = (placed(source, seed=seed) for seed in (5, 5, 6))
    places = [[tensors["x"].data_ptr() for tensors in placement.draw()] for placement in (first, same, other)]
    again = [tensors["x"].data_ptr() for tensors in first.draw()]
    assert places[0] == places[1]
    assert places[0] != places[2]
    assert places[0] != again


def test_places_drawn_ahead_are_those_that_come_next() -> None:
    source = {"x": torch.ones(1000)}
    ahead, at_once = placed(source, seed=3), placed(source, seed=3)
    for _ in range(3):
        ahead.arrange()
        ahead.arrange()
        expected = [tensors["x"].data_ptr() for tensors in at_once.draw()]
        source["x"] += 1
        sets = ahead.draw()
        assert [tensors["x"].data_ptr() for tensors in sets] == expected
        assert all(tensors["x"].equal(source["x"]) for tensors in sets)  # copied when drawn, not when arranged


def test_places_spread_over_the_whole_pool() -> None:
    placement = placed({"x": torch.ones(1000)})
    steps = {
        (tensors["x"].data_ptr() - POOL.data_ptr()) // STEP_BYTES for _ in range(200) for tensors in placement.draw()
    }
    assert len(steps) >= 45  # of 48 steps


def test_a_draw_undoes_what_calls_wrote() -> None:
    placement = placed({"x": torch.ones(1000)})
    for tensors in placement.draw():
        tensors["x"].zero_()
    assert all(tensors["x"].eq(1).all() for tensors in placement.draw())


def test_sets_cover_the_rotation_where_the_pool_allows() -> None:
    source = {"x": torch.zeros(4 << 20, dtype=torch.uint8)}
    assert placed(source, rotation_bytes=12 << 20).count == 3
    assert placed(source, rotation_bytes=1 << 40).count == 8  # most_sets
    assert placed({"x": torch.zeros(20 << 20, dtype=torch.uint8)}, rotation_bytes=1 << 40).count == 3  # of the pool


def test_a_set_larger_than_the_pool_stays_where_it_is() -> None:
    source = {"x": torch.ones(90 << 20, dtype=torch.uint8)}
    placement = placed(source)
    assert placement.in_place
    assert placement.draw()[0]["x"] is source["x"]


def test_what_is_not_a_plain_tensor_is_passed_on() -> None:
    sparse = torch.eye(3).to_sparse()
    source = {"sparse": sparse, "empty": torch.empty(0, 4), "name": "x", "x": torch.ones(2)}
    tensors = placed(source).draw()[0]
    assert tensors["sparse"] is sparse
    assert tensors["empty"] is source["empty"]
    assert tensors["name"] == "x"
    assert tensors["x"] is not source["x"]
