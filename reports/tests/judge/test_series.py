"""From rounds to log ratios: what counts, what is dropped, and why."""

import math

import pytest

from solwatch.judge.series import RoundFacts, log_ratios, null_log_ratios, series
from solwatch.model.record import Block, CellRound, Failure, Round, Side


def block(*samples_s: float, voids: tuple[str, ...] = (), null_s: tuple[float, ...] = ()) -> Block:
    return Block(samples_s=list(samples_s), null_s=list(null_s), number=1, timer="wall", voids=list(voids))


def facts(head: Side, base: Side | None) -> RoundFacts:
    cell = CellRound(key="a", head=head, base=base)
    return series([(1, Round(index=0, head_slot=1, started_at="", wall_s=1.0, cells=[cell]), cell)])[0]


def test_blocks_of_a_round_are_pooled_before_the_centre_is_taken() -> None:
    found = facts(Side(blocks=[block(1.0, 2.0), block(3.0, 100.0, -90.0)]), Side(blocks=[block(1.0)]))
    assert found.head_s == pytest.approx(2.0)
    assert found.log_ratio == pytest.approx(math.log(2))
    assert (found.head_slot, found.dropped) == (1, None)


def test_blocks_with_voids_are_left_out() -> None:
    found = facts(Side(blocks=[block(9.0, voids=("throttled",)), block(2.0)]), Side(blocks=[block(1.0)]))
    assert found.head_s == 2.0
    assert found.dropped is None


def test_a_round_without_a_clean_block_is_dropped_and_says_why() -> None:
    found = facts(Side(blocks=[block(9.0, voids=("throttled",))] * 2), Side(blocks=[block(1.0)]))
    assert (found.log_ratio, found.dropped, found.void) == (None, "head: throttled", True)


def test_a_failed_base_drops_the_round_without_calling_it_void() -> None:
    found = facts(Side(blocks=[block(1.0)]), Side(failure=Failure(kind="died", message="signal 9")))
    assert (found.dropped, found.void) == ("base died: signal 9", False)
    assert found.head_s == 1.0


def test_samples_that_are_no_numbers_drop_the_round() -> None:
    found = facts(Side(blocks=[block(math.nan)]), Side(blocks=[block(1.0)]))
    assert (found.dropped, found.void) == ("head: no finite sample", True)


def test_a_counter_that_is_zero_on_both_sides_has_not_changed() -> None:
    assert facts(Side(blocks=[block(0.0)]), Side(blocks=[block(0.0)])).log_ratio == 0.0


@pytest.mark.parametrize(("head", "base"), [(1.0, 0.0), (0.0, 1.0), (-1.0, 1.0)])
def test_what_is_not_a_ratio_of_positive_numbers_is_dropped(head: float, base: float) -> None:
    found = facts(Side(blocks=[block(head)]), Side(blocks=[block(base)]))
    assert found.log_ratio is None
    assert found.void
    assert "not a ratio" in (found.dropped or "")


def test_head_alone_has_times_and_drops_nothing() -> None:
    found = facts(Side(blocks=[block(2.0)]), None)
    assert (found.head_s, found.log_ratio, found.dropped) == (2.0, None, None)


def test_the_null_kernel_is_compared_where_both_sides_have_it() -> None:
    both = facts(Side(blocks=[block(1.0, null_s=(3.3,))]), Side(blocks=[block(1.0, null_s=(3.0,))]))
    one = facts(Side(blocks=[block(1.0, null_s=(3.3,))]), Side(blocks=[block(1.0)]))
    assert null_log_ratios([both, one]) == [pytest.approx(math.log(1.1))]
    assert log_ratios([both, one]) == [0.0, 0.0]
