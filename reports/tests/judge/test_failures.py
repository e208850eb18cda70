"""What failures on either side mean; the table of ``failure_finding`` line by line."""

import pytest

from solwatch.judge.failures import failure_finding
from solwatch.model.record import Block, CellRound, Failure, Side
from solwatch.model.verdict import Reason, Verdict

RAN = Side(blocks=[Block(samples_s=[1.0], null_s=[], number=1, timer="wall")])


def failed(kind: str, message: str = "said why") -> Side:
    return Side(failure=Failure(kind=kind, message=message))


def rounds(head: Side, base: Side | None, count: int = 3) -> list[CellRound]:
    return [CellRound(key="a.B", head=head, base=base) for _ in range(count)]


def test_two_sides_that_ran_are_left_to_the_rule() -> None:
    assert failure_finding(rounds(RAN, RAN)) is None
    assert failure_finding(rounds(RAN, None)) is None
    assert failure_finding([]) is None


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("wrong", Reason.WRONG_RESULT),
        ("raised", Reason.RAISED),
        ("out_of_memory", Reason.OUT_OF_MEMORY),
        ("hung", Reason.HUNG),
        ("died", Reason.DIED),
        ("missing", Reason.VANISHED),
        ("skipped", Reason.VANISHED),
    ],
)
def test_a_head_that_fails_where_base_ran_is_broken(kind: str, reason: Reason) -> None:
    finding = failure_finding(rounds(failed(kind), RAN))
    assert finding is not None
    assert (finding.verdict, finding.reason, finding.counts) == (Verdict.BROKEN, reason, True)
    assert "said why" in finding.evidence[0]


def test_one_failing_round_of_many_is_enough_and_is_counted() -> None:
    finding = failure_finding([*rounds(RAN, RAN, 4), *rounds(failed("wrong"), RAN, 1)])
    assert finding is not None
    assert finding.verdict is Verdict.BROKEN
    assert "(in 1 of 5 rounds)" in finding.evidence[0]


@pytest.mark.parametrize("kind", ["wrong", "raised", "out_of_memory", "hung", "died"])
def test_both_failing_in_the_same_way_is_void_and_not_the_heads_fault(kind: str) -> None:
    finding = failure_finding(rounds(failed(kind), failed(kind)))
    assert finding is not None
    assert finding.verdict is Verdict.VOID
    assert finding.reason is not Reason.UNTRUSTED
    assert "head did not break it" in finding.evidence[-1]


def test_a_wrong_head_is_broken_even_where_base_ran_out_of_memory() -> None:
    finding = failure_finding(rounds(failed("wrong"), failed("out_of_memory")))
    assert finding is not None
    assert (finding.verdict, finding.reason) == (Verdict.BROKEN, Reason.WRONG_RESULT)


@pytest.mark.parametrize("absent", ["missing", "skipped"])
def test_a_new_cell_that_does_not_work_is_broken(absent: str) -> None:
    finding = failure_finding(rounds(failed("raised"), failed(absent)))
    assert finding is not None
    assert (finding.verdict, finding.reason) == (Verdict.BROKEN, Reason.RAISED)


@pytest.mark.parametrize("base", [failed("skipped"), failed("missing"), failed("raised"), None])
def test_a_cell_that_head_skips_and_base_could_not_run_does_not_count(base: Side | None) -> None:
    finding = failure_finding(rounds(failed("skipped"), base))
    assert finding is not None
    assert (finding.verdict, finding.reason, finding.counts) == (Verdict.UNDECIDED, Reason.SKIPPED, False)


@pytest.mark.parametrize("kind", ["missing", "skipped", "raised", "wrong", "out_of_memory", "hung", "died"])
def test_a_cell_only_head_can_run_is_new(kind: str) -> None:
    finding = failure_finding(rounds(RAN, failed(kind)))
    assert finding is not None
    assert (finding.verdict, finding.reason) == (Verdict.NEW, Reason.NOT_IN_BASE)


def test_a_base_that_fails_now_and_then_costs_rounds_not_the_verdict() -> None:
    assert failure_finding([*rounds(RAN, RAN, 4), *rounds(RAN, failed("died"), 1)]) is None


def test_a_vanished_cell_needs_no_times_of_base() -> None:
    finding = failure_finding(rounds(failed("missing"), Side(), 1))
    assert finding is not None
    assert (finding.verdict, finding.reason) == (Verdict.BROKEN, Reason.VANISHED)


def test_head_alone_that_fails_is_broken() -> None:
    finding = failure_finding(rounds(failed("hung"), None))
    assert finding is not None
    assert (finding.verdict, finding.reason) == (Verdict.BROKEN, Reason.HUNG)
