"""Which GPU gets which cell."""

from solwatch.app.shares import CALLS, CELL_S, shares
from solwatch.model.cell import CellInfo, Work
from solwatch.model.record import Ceilings

LIMITS = Ceilings(sustained_flops={"bfloat16": 1e12}, sustained_bandwidth=1e12)


def cell(key: str) -> CellInfo:
    return CellInfo(key=key, benchmark=key, params=[], param_names=[], kind="suite")


def test_every_cell_is_in_one_share_and_a_long_one_weighs_more() -> None:
    keys = ["long", *"abcdef"]
    long_s = 4 * CELL_S / CALLS
    work = {"long": Work(flops=0, traffic_bytes=long_s * 1e12, dtype="bfloat16")}
    first, second = shares([cell(key) for key in keys], work, LIMITS, 2)
    assert sorted(first | second) == sorted(keys)
    assert not first & second
    assert len(first if "long" in first else second) == 2
    assert shares([cell(key) for key in reversed(keys)], work, LIMITS, 2) == [first, second]


def test_cells_that_say_nothing_of_their_work_are_counted() -> None:
    assert sorted(map(len, shares([cell(key) for key in "abcdefg"], {}, Ceilings(), 3))) == [2, 2, 3]


def test_more_gpus_than_cells_leaves_some_idle() -> None:
    assert shares([cell("a")], {}, LIMITS, 2) == [frozenset("a"), frozenset()]
