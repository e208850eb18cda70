"""From rounds to log ratios: what counts, what is dropped, and why."""

import math

import msgspec
import pytest

from solwatch.judge.launch_path import nulls_of
from solwatch.judge.series import Measured, RoundFacts, log_ratios, null_log_ratios, series
from solwatch.model.record import Block, CellRound, Failure, Round, Side


def block(*samples_s: float, voids: tuple[str, ...] = (), null_s: tuple[float, ...] = ()) -> Block:
    return Block(samples_s=list(samples_s), null_s=list(null_s), number=1, timer="wall", voids=list(voids))


def facts(head: Side, base: Side | None) -> RoundFacts:
    cell = CellRound(key="a", head=head, base=base)
    round_ = Round(index=0, head_slot=1, started_at="", wall_s=1.0, cells=[cell])
    return series([Measured(1, round_, cell, nulls_of(round_))])[0]


def test_blocks_of_a_side_are_pooled_before_its_centre_is_taken() -> None:
    found = facts(Side(blocks=[block(1.0, 2.0), block(3.0, 100.0, -90.0)]), Side(blocks=[block(1.0)] * 2))
    assert found.head_s == pytest.approx(2.0)
    assert (found.head_slot, found.dropped) == (1, None)


def turns(*times: float) -> Side:
    return Side(blocks=[block(time) for time in times])


def test_the_ratio_is_the_median_over_the_turns() -> None:
    # the clock drifts under both sides, and jumps in one turn
    found = facts(turns(2.0, 2.2, 9.0, 2.6, 2.8), turns(1.0, 1.1, 1.2, 1.3, 1.4))
    assert found.log_ratio == pytest.approx(math.log(2))
    assert facts(turns(1.0, 1.1, 1.2, 1.3, 1.4), turns(2.0, 2.2, 9.0, 2.6, 2.8)).log_ratio == -(found.log_ratio or 0)


def test_blocks_without_a_partner_are_left_out_of_the_ratio() -> None:
    assert facts(turns(2.0, 2.0, 9.0), turns(1.0, 1.0)).log_ratio == pytest.approx(math.log(2))


def test_one_turn_without_a_ratio_drops_the_round() -> None:
    found = facts(turns(2.0, 2.0, 2.0), turns(1.0, 0.0, 1.0))
    assert found.void
    assert "not a ratio" in (found.dropped or "")


def test_cycles_are_compared_turn_by_turn() -> None:
    def clocked(*times: tuple[float, float]) -> Side:
        return Side(
            blocks=[msgspec.structs.replace(block(time, null_s=(1e-6,)), sm_clock_hz=clock) for time, clock in times]
        )

    found = facts(clocked((1.0, 2e9), (2.0, 1e9), (5.0, 2e9)), clocked((1.0, 1e9), (1.0, 1e9), (1.0, 1e9)))
    assert found.cycles_log_ratio == pytest.approx(math.log(2))


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


def held(time_s: float, null_s: float, launches: int = 1) -> Block:
    return Block(samples_s=[time_s] * 5, null_s=[null_s] * 5, number=1, timer="held", launches=launches)


def in_round(*cells: CellRound) -> list[RoundFacts]:
    round_ = Round(index=0, head_slot=0, started_at="", wall_s=1.0, cells=list(cells))
    nulls = nulls_of(round_)
    return [series([Measured(1, round_, cell, nulls)])[0] for cell in cells]


def test_what_the_launch_path_adds_to_one_side_is_taken_off_once_for_each_launch() -> None:
    one = CellRound(key="a", head=Side(blocks=[held(20.2e-6, 3.6e-6)]), base=Side(blocks=[held(20e-6, 3.4e-6)]))
    three = CellRound(key="b", head=Side(blocks=[held(30.6e-6, 3.6e-6, 3)]), base=Side(blocks=[held(30e-6, 3.4e-6, 3)]))
    for found in in_round(one, three):
        assert found.log_ratio == pytest.approx(0, abs=1e-12)
        assert (found.raw_log_ratio or 0) > 0.009


def test_the_null_kernel_is_taken_over_all_cells_of_the_round() -> None:
    quiet = CellRound(key="a", head=Side(blocks=[held(20e-6, 3.4e-6)]), base=Side(blocks=[held(20e-6, 3.4e-6)]))
    loud = CellRound(key="b", head=Side(blocks=[held(20e-6, 3.8e-6)]), base=Side(blocks=[held(20e-6, 3.4e-6)]))
    for found in in_round(quiet, loud):
        assert found.log_ratio == pytest.approx(math.log(19.9 / 20.1))


def test_a_launch_more_stays_what_it_costs() -> None:
    cell = CellRound(key="a", head=Side(blocks=[held(24e-6, 3.4e-6, 2)]), base=Side(blocks=[held(20e-6, 3.4e-6, 1)]))
    assert in_round(cell)[0].log_ratio == pytest.approx(math.log(24 / 20))


@pytest.mark.parametrize("timer", ["graph", "cupti", "events", "wall"])
def test_other_timers_are_not_corrected(timer: str) -> None:
    def side(time_s: float, null_s: float) -> Side:
        return Side(blocks=[Block(samples_s=[time_s], null_s=[null_s], number=1, timer=timer, launches=1)])

    found = in_round(CellRound(key="a", head=side(20.2e-6, 3.6e-6), base=side(20e-6, 3.4e-6)))[0]
    assert found.log_ratio == found.raw_log_ratio == pytest.approx(math.log(20.2 / 20))


def test_cycles_are_times_by_the_clocks_of_their_own_side() -> None:
    def side(time_s: float, clock_hz: float) -> Side:
        return Side(blocks=[msgspec.structs.replace(held(time_s, 3.4e-6), sm_clock_hz=clock_hz)])

    found = in_round(CellRound(key="a", head=side(22e-6, 1.8e9), base=side(20e-6, 1.98e9)))[0]
    assert found.log_ratio == pytest.approx(math.log(1.1))
    assert found.cycles_log_ratio == pytest.approx(0)
