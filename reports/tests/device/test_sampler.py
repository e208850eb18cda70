"""The gated loop, the events fallback and CUPTI's spans, on a stage that simulates time."""

from collections.abc import Callable

import pytest
from fakes.stage import FLUSH_S, NULL_S, FakeStage
from hypothesis import given
from hypothesis import strategies as st

from solwatch.device.cupti import spans
from solwatch.device.events import device_wall_samples, event_samples, work_outside_events
from solwatch.device.sampler import (
    GATE_OPENED,
    OWN_COMMANDS,
    QUEUE_COMMANDS,
    Pace,
    fits_queue,
    gated_duration,
    gated_samples,
    unrolled,
)

CALL_S = 20e-6
QUEUE_DEPTH = 1024


def shots_of(stage: FakeStage, launches: int = 1, sets: int = 3) -> list[Callable[[], None]]:
    def shot(number: int) -> None:
        for _ in range(launches):
            stage.work(f"call{number}", CALL_S / launches)

    return [lambda number=number: shot(number) for number in range(sets)]


def test_times_are_seconds_per_call_beside_the_null_kernel() -> None:
    stage = FakeStage()
    pace = Pace(number=4, launches=1, call_s=CALL_S)
    taken = gated_samples(stage, shots_of(stage), pace, deadline=0.01, target_s=0.01)
    assert taken.samples_s == pytest.approx([CALL_S] * len(taken.samples_s))
    assert taken.null_s == pytest.approx([NULL_S] * len(taken.samples_s))
    assert len(taken.samples_s) >= 3
    assert taken.voids == []
    assert 0.01 <= stage.now < 0.015


def test_every_call_and_every_null_kernel_comes_right_after_a_flush() -> None:
    stage = FakeStage()
    gated_samples(stage, shots_of(stage), Pace(1, 1, CALL_S), deadline=0.002, target_s=0.002)
    log = stage.log[stage.log.index("hold") :]
    for index, name in enumerate(log):
        if name.startswith(("call", "null")):
            assert log[index - 2 : index] == ["flush", "mark"]
            assert log[index + 1] == "mark"


def test_buffer_sets_take_turns() -> None:
    stage = FakeStage()
    gated_samples(stage, shots_of(stage), Pace(2, 1, CALL_S), deadline=0.002, target_s=0.002)
    log = stage.log[stage.log.index("hold") :]
    called = [int(name.removeprefix("call")) for name in log if name.startswith("call")]
    assert called == [turn % 3 for turn in range(len(called))]


@given(launches=st.integers(1, QUEUE_COMMANDS - OWN_COMMANDS), call_s=st.floats(1e-7, 1e-3))
def test_two_chunks_never_fill_the_launch_queue(launches: int, call_s: float) -> None:
    stage = FakeStage()
    assert fits_queue(launches)
    pace = Pace(unrolled(call_s, launches), launches, call_s)
    gated_samples(stage, shots_of(stage, launches), pace, deadline=0.02, target_s=0.02)
    chunks = ",".join(stage.log).split("hold")[1:]
    commands = [chunk.split("release")[0].strip(",").count(",") + 2 for chunk in chunks]
    assert max(commands) <= QUEUE_COMMANDS + 1
    assert 2 * max(commands) < QUEUE_DEPTH // 2


def test_a_call_that_raises_leaves_no_gate_closed() -> None:
    stage = FakeStage()
    calls = 0

    def shot() -> None:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        gated_samples(stage, [shot], Pace(1, 1, CALL_S), deadline=1.0, target_s=1.0)
    assert stage.log.count("hold") == stage.log.count("release")


def test_samples_behind_a_gate_that_the_watchdog_opened_are_void() -> None:
    stage = FakeStage()

    def shot() -> None:
        stage.work("call", CALL_S)
        if stage.log.count("hold") == 2:
            stage.gate.opened_by_watchdog += 1

    taken = gated_samples(stage, [shot], Pace(1, 1, CALL_S), deadline=10.0, target_s=0.01)
    assert taken.voids == [GATE_OPENED]
    assert stage.log.count("hold") == 2


def test_long_calls_make_small_chunks_that_respect_the_time() -> None:
    stage = FakeStage()
    shots = [lambda: stage.work("call", 0.01)]
    taken = gated_samples(stage, shots, Pace(1, 1, 0.01), deadline=0.05, target_s=0.05)
    assert len(taken.samples_s) == 4  # and one call leads in


@pytest.mark.parametrize(
    ("call_s", "launches", "number"),
    [(5e-6, 1, 1), (1e-3, 3, 1), (4e-6, 1, 3), (1.1e-6, 1, 10), (1e-6, 100, 2), (1e-6, 227, 1)],
)
def test_short_calls_are_unrolled(call_s: float, launches: int, number: int) -> None:
    assert unrolled(call_s, launches) == number


def test_the_duration_of_a_call_is_probed_behind_the_gate() -> None:
    stage = FakeStage()
    assert gated_duration(stage, shots_of(stage), 1) == pytest.approx(CALL_S)
    assert stage.log[0] == "hold"
    assert stage.log.index("release") < stage.log.index("wait")


def test_probing_a_call_of_many_launches_stays_within_the_queue() -> None:
    stage = FakeStage()
    gated_duration(stage, shots_of(stage, launches=200), 200)
    assert sum(name.startswith("call") for name in stage.log) == 200


def test_event_samples_start_on_an_idle_device() -> None:
    stage = FakeStage(host_s=1e-5)
    taken = event_samples(stage, shots_of(stage), 2, deadline=0.002)
    assert taken.samples_s == pytest.approx([CALL_S] * len(taken.samples_s))
    assert taken.null_s == pytest.approx([NULL_S] * len(taken.samples_s))
    assert "hold" not in stage.log
    first = stage.log.index("call0")
    assert stage.log[first - 3 : first] == ["flush", "flush", "mark"]
    assert next(name for name in stage.log[:first] if name != "varying") == "synchronize"


def test_work_on_another_stream_is_found_by_the_wall_clock() -> None:
    stage = FakeStage(host_s=5e-6)

    def escapes() -> None:
        stage.work("call", CALL_S)
        stage.pending_s = 50e-6

    class Escaping(FakeStage):
        pending_s = 0.0

        def synchronize(self) -> None:
            super().synchronize()
            self.now += self.pending_s
            self.pending_s = 0.0

    stage = Escaping(host_s=5e-6)
    reason = work_outside_events(stage, [escapes])
    assert reason is not None
    assert reason.startswith("50 us")
    taken = device_wall_samples(stage, [escapes], 1, deadline=0.001)
    assert taken.samples_s == pytest.approx([CALL_S + 55e-6] * len(taken.samples_s))


def test_a_well_behaved_call_is_covered_by_its_events() -> None:
    stage = FakeStage(host_s=15e-6)
    assert work_outside_events(stage, shots_of(stage)) is None


def test_spans_run_from_the_first_start_to_the_last_end() -> None:
    events = [
        ("solwatch_flush(uint4 const*)", 0, 30_000),
        ("copy", 31_000, 33_000),
        ("gemm", 34_000, 50_000),
        ("reduce", 45_000, 48_000),  # on another stream, over before the product
        ("solwatch_flush(uint4 const*)", 51_000, 80_000),
        ("solwatch_null()", 81_000, 81_600),
        ("solwatch_flush(uint4 const*)", 82_000, 110_000),
        ("solwatch_flush(uint4 const*)", 111_000, 140_000),
        ("gemm", 141_000, 151_000),
        ("solwatch_flush(uint4 const*)", 152_000, 181_000),
        ("solwatch_null()", 182_000, 182_500),
    ]
    samples_s, null_s = spans(reversed(events))
    assert samples_s == pytest.approx([19e-6, 10e-6])
    assert null_s == pytest.approx([0.6e-6, 0.5e-6])


def test_nothing_recorded_is_no_sample() -> None:
    assert spans([]) == ([], [])


def test_the_fake_flush_costs_what_the_stage_says() -> None:
    assert FakeStage().flush_s == FLUSH_S
