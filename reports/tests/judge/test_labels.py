"""Labels beside a verdict: the clock, launches and configurations, from series whose answer is known."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from fakes.records import FakeCell, record

from solwatch.judge.judgement import CellFacts, SideFacts
from solwatch.judge.judging import judge
from solwatch.judge.labels import cell_labels
from solwatch.judge.series import RoundFacts
from solwatch.judge.thresholds import CellThresholds
from solwatch.model.record import Record
from solwatch.model.verdict import CellVerdict, Label, Verdict
from solwatch.render.html import render_html
from solwatch.render.terminal import render_terminal

JITTER = (-0.001, 0.001, -0.0005, 0.0005, 0.0, 0.001, -0.001, 0.0)


def facts(in_time: Sequence[float | None], in_cycles: Sequence[float | None], **sides: Any) -> CellFacts:
    """Return a cell of those log ratios, held to a margin of 0.3 %."""
    rounds = [
        RoundFacts(
            ordinal=at, index=at - 1, head_slot=0, head_s=1.0, base_s=1.0, log_ratio=time,
            head_null_s=None, base_null_s=None, cycles_log_ratio=cycles,
        )
        for at, (time, cycles) in enumerate(zip(in_time, in_cycles, strict=True), start=1)
    ]  # fmt: skip
    return CellFacts(
        key="a",
        unit="seconds",
        work=None,
        head=sides.get("head", SideFacts()),
        base=sides.get("base", SideFacts()),
        rounds=rounds,
        thresholds=CellThresholds(min_effect=0.01, margin=0.003, sol_floor=None, gated=True),
    )


def around(size: float) -> list[float | None]:
    return [math.log1p(size) + jitter for jitter in JITTER]


@pytest.mark.parametrize(
    ("verdict", "in_time", "in_cycles", "labelled"),
    [
        (Verdict.SLOWER, around(0.03), around(0.0), True),
        (Verdict.SLOWER, around(0.03), around(-0.02), True),  # the kernel itself got faster
        (Verdict.SLOWER, around(0.03), around(0.03), False),  # the same in cycles
        (Verdict.SLOWER, around(0.03), around(0.01), False),  # two thirds are the clock's, one is not
        (Verdict.SLOWER, around(0.03), around(0.0025), False),  # the interval reaches beyond the margin
        (Verdict.FASTER, around(-0.03), around(0.0), True),
        (Verdict.FASTER, around(-0.03), around(-0.03), False),
        (Verdict.FASTER, around(-0.03), around(0.02), True),
        (Verdict.UNCHANGED, around(0.03), around(0.0), False),
        (Verdict.UNDECIDED, around(0.03), around(0.0), False),
        (Verdict.SLOWER, around(0.03), [None] * len(JITTER), False),
        (Verdict.SLOWER, around(0.03), [0.0, *[None] * (len(JITTER) - 1)], False),  # one round is no interval
        (Verdict.SLOWER, around(0.03), [*around(0.0)[:6], None, None], True),
    ],
)
def test_a_change_that_vanishes_in_cycles_is_the_clocks(
    verdict: Verdict, in_time: list[float | None], in_cycles: list[float | None], labelled: bool
) -> None:
    assert cell_labels(verdict, facts(in_time, in_cycles)) == ([Label.CLOCK] if labelled else [])


def test_a_clock_that_does_not_differ_surely_is_no_label() -> None:
    # In cycles the change is within the margin, but the clocks' own scatter is as large as what they explain.
    in_cycles: list[float | None] = [0.0] * 8
    in_time: list[float | None] = [0.05, -0.04, 0.05, -0.04, 0.05, -0.04, 0.05, -0.04]
    assert cell_labels(Verdict.SLOWER, facts(in_time, in_cycles)) == []


@pytest.mark.parametrize(
    ("head", "base", "labelled"),
    [
        (["x"], ["y"], True),
        (["x"], ["x"], False),
        (["x", "y"], ["y"], False),  # compiled in two ways, one of them base's
        (["x", "y"], ["z"], True),
        ([], ["y"], False),
        ([], [], False),
    ],
)
def test_caches_without_a_common_state_are_a_changed_configuration(
    head: list[str], base: list[str], labelled: bool
) -> None:
    made = facts(around(0.0), around(0.0), head=SideFacts(caches=head), base=SideFacts(caches=base))
    assert cell_labels(Verdict.UNCHANGED, made) == ([Label.CONFIG_CHANGED] if labelled else [])


@pytest.mark.parametrize(
    ("head", "base", "labelled"), [(3, 2, True), (2, 2, False), (None, 2, False), (3, None, False)]
)
def test_another_count_of_launches_is_labelled(head: int | None, base: int | None, labelled: bool) -> None:
    made = facts(around(0.0), around(0.0), head=SideFacts(launches=head), base=SideFacts(launches=base))
    assert cell_labels(Verdict.UNCHANGED, made) == ([Label.LAUNCHES_CHANGED] if labelled else [])


@pytest.mark.parametrize("verdict", [Verdict.BROKEN, Verdict.VOID, Verdict.NEW])
def test_what_was_not_compared_has_no_label(verdict: Verdict) -> None:
    made = facts(around(0.0), around(0.0), head=SideFacts(launches=1), base=SideFacts(launches=2))
    assert cell_labels(verdict, made) == []
    assert cell_labels(Verdict.UNDECIDED, msgspec.structs.replace(made, base=None)) == []


def changed(taken: Record, **values: Any) -> Record:
    """Return ``taken`` with other clocks, launches or caches in head; base's clock stands still."""

    def block(each: Any, **fields: Any) -> Any:
        return msgspec.structs.replace(each, **fields)

    caches = values.pop("caches", "c0ffee")

    def cell(each: Any) -> Any:
        head = [block(one, **{"sm_clock_hz": 1.755e9, **values}) for one in each.head.blocks]
        base = [block(one, sm_clock_hz=1.755e9) for one in each.base.blocks]
        return msgspec.structs.replace(
            each,
            head=msgspec.structs.replace(each.head, blocks=head, caches=caches),
            base=msgspec.structs.replace(each.base, blocks=base),
        )

    rounds = [msgspec.structs.replace(one, cells=[cell(each) for each in one.cells]) for one in taken.rounds]
    return msgspec.structs.replace(taken, rounds=rounds)


def judged(ratio: float, **values: Any) -> tuple[Record, CellVerdict]:
    taken = changed(record([FakeCell(key="a", ratio=ratio, spread=0.0005, head_null_s=3.32e-6)]), **values)
    return taken, judge(taken).verdicts[0]


def test_labels_leave_verdict_reason_and_exit_code_as_they_are() -> None:
    plain, _ = judged(1.04)
    labelled, cell = judged(1.04, sm_clock_hz=1.755e9 / 1.04, launches=2, caches="facade")
    assert cell.labels == [Label.CLOCK, Label.LAUNCHES_CHANGED, Label.CONFIG_CHANGED]
    one, other = judge(plain), judge(labelled)
    assert one.verdicts[0].labels == []
    assert (one.verdicts[0].verdict, one.verdicts[0].reason) == (cell.verdict, cell.reason)
    assert one.exit_code == other.exit_code == 1
    said = " ".join(cell.evidence)
    assert "the clock makes the difference, 1.688 GHz in head and 1.755 GHz in base" in said
    assert "one call launches 2 kernels in head, 1 in base (launches_changed)" in said
    assert "differs between the sides in every round (config_changed)" in said


def test_labels_are_shown_on_the_terminal_and_the_page() -> None:
    taken, _ = judged(1.04, sm_clock_hz=1.755e9 / 1.04)
    shown = render_terminal(taken, judge(taken), width=140)
    assert "a: slower (above margin; clock)" in shown
    assert any(line.rstrip().endswith("clock") for line in shown.splitlines() if line.startswith(" a "))
    assert '<span class="label">clock</span>' in render_html(taken, judge(taken))
    plain, _ = judged(1.04)
    assert "labels" not in render_terminal(plain, judge(plain), width=140)
    assert 'class="label"' not in render_html(plain, judge(plain))
