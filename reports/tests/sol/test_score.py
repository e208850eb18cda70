"""Speed-of-light scores: by hand, at the limits, and what they refuse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solwatch.model.cell import Work
from solwatch.model.errors import ExitCode
from solwatch.model.record import Ceilings
from solwatch.sol.score import Bound, CeilingExceededError, CeilingKind, ceiling_excess, score, sol_limit

RATED = Ceilings(
    rated_flops={"bfloat16": 1000.0},
    rated_bandwidth=10.0,
    rated_clock_hz=2.0,
    sustained_flops={"bfloat16": 800.0},
    sustained_bandwidth=8.0,
)
MEASURED = Ceilings(sustained_flops={"bfloat16": 800.0}, sustained_bandwidth=8.0)
COMPUTE = Work(flops=5000.0, traffic_bytes=10.0, dtype="bfloat16")
MEMORY = Work(flops=100.0, traffic_bytes=40.0, dtype="bfloat16")


def test_a_compute_bound_call_by_hand() -> None:
    found = score(COMPUTE, 10.0, RATED, sm_clock_hz=1.6)
    assert found is not None
    assert (found.t_sol_s, found.bound, found.kind) == (5.0, Bound.COMPUTE, CeilingKind.RATED)
    assert found.sol_score == pytest.approx(0.5)
    assert found.sol_gap == pytest.approx(2.0)
    assert (found.flops_per_s, found.bytes_per_s) == (500.0, 1.0)
    assert found.mfu == pytest.approx(0.5)
    assert found.mbu == pytest.approx(0.1)
    assert found.mfu_sustained == pytest.approx(0.625)
    assert found.mbu_sustained == pytest.approx(0.125)
    # At 1.6 Hz of 2 the peak was 800 FLOP/s.
    assert found.mfu_at_clock == pytest.approx(0.625)


def test_a_memory_bound_call_by_hand() -> None:
    found = score(MEMORY, 5.0, RATED)
    assert found is not None
    assert (found.t_sol_s, found.bound) == (4.0, Bound.MEMORY)
    assert found.sol_score == found.mbu == pytest.approx(0.8)
    assert found.mfu_at_clock is None


def test_exactly_the_speed_of_light_scores_one() -> None:
    found = score(MEMORY, 4.0, RATED)
    assert found is not None
    assert found.sol_score == 1.0


def test_a_time_below_a_rated_limit_is_an_error_that_says_both() -> None:
    with pytest.raises(CeilingExceededError, match=r"3\.9e\+06 µs is below the rated T_SOL of 4e\+06 µs") as caught:
        score(MEMORY, 3.9, RATED)
    assert caught.value.exit_code is ExitCode.UNTRUSTED


def test_a_time_that_beats_a_measured_ceiling_loses_its_score_and_nothing_else() -> None:
    found = score(MEMORY, 4.0, MEASURED)
    assert found is not None
    assert found.kind is CeilingKind.MEASURED
    assert (found.sol_score, found.sol_gap) == (None, None)
    assert found.mbu == pytest.approx(1.25)


def test_half_a_set_of_ceilings_is_not_a_limit() -> None:
    assert sol_limit(COMPUTE, Ceilings(rated_bandwidth=10.0)) is None
    assert sol_limit(COMPUTE, Ceilings(rated_flops={"bfloat16": 1.0})) is None
    assert sol_limit(Work(flops=1.0, traffic_bytes=1.0, dtype="float64"), RATED) is None
    assert score(COMPUTE, 1.0, Ceilings()) is None


def test_measured_ceilings_stand_in_where_a_dtype_has_no_rated_one() -> None:
    ceilings = Ceilings(
        rated_flops={"bfloat16": 1000.0},
        rated_bandwidth=10.0,
        sustained_flops={"float32": 100.0},
        sustained_bandwidth=8.0,
    )
    limit = sol_limit(Work(flops=100.0, traffic_bytes=1.0, dtype="float32"), ceilings)
    assert limit is not None
    assert limit.kind is CeilingKind.MEASURED


def test_a_copy_needs_no_throughput() -> None:
    limit = sol_limit(Work(flops=0.0, traffic_bytes=20.0, dtype="uint8"), RATED)
    assert limit is not None
    assert (limit.t_sol_s, limit.bound) == (2.0, Bound.MEMORY)


def test_no_work_has_no_limit() -> None:
    assert sol_limit(Work(flops=0.0, traffic_bytes=0.0, dtype="bfloat16"), RATED) is None


@pytest.mark.parametrize("time_s", [0.0, -1.0, float("nan")])
def test_a_time_that_is_no_time_is_refused(time_s: float) -> None:
    with pytest.raises(ValueError, match="time_s"):
        score(MEMORY, time_s, RATED)


def test_the_excess_is_silent_above_the_limit() -> None:
    limit = sol_limit(MEMORY, RATED)
    assert limit is not None
    assert ceiling_excess(limit, 4.0) is None
    assert "memory bound" in (ceiling_excess(limit, 1.0) or "")


@given(
    st.floats(min_value=1, max_value=1e15),
    st.floats(min_value=1, max_value=1e12),
    st.floats(min_value=1.0, max_value=1e6),
)
def test_the_score_lies_in_its_domain_and_falls_with_time(flops: float, traffic: float, slower: float) -> None:
    work = Work(flops=flops, traffic_bytes=traffic, dtype="bfloat16")
    limit = sol_limit(work, RATED)
    assert limit is not None
    found = score(work, limit.t_sol_s * slower, RATED)
    assert found is not None
    assert found.sol_score is not None
    assert found.sol_gap is not None
    assert 0 < found.sol_score <= 1
    assert found.sol_score * found.sol_gap == pytest.approx(1.0)
    assert found.sol_score == pytest.approx(max(found.mfu or 0, found.mbu or 0))
