"""What a selftest concludes from verdicts on cells whose slowdown is known."""

from typing import Any

import pytest
from fakes.records import FakeCell, record

from solwatch.judge.judging import judge
from solwatch.judge.selftest import Answer, CheckedCell, CheckedGate, Due, Selftest, checked_cells, smallest_due
from solwatch.model.errors import ExitCode
from solwatch.model.verdict import Verdict

NULL_S = 3.32e-6
BASE_S = 332e-6
LAUNCHING = NULL_S / BASE_S


def checked(planted: float, *, rounds: int = 36, **cell: Any) -> CheckedCell:
    taken = record([FakeCell(key="a", base_s=BASE_S, **cell)], rounds=rounds)
    (found,) = [each for each in checked_cells(judge(taken), {"a": planted}) if each.key == "a"]
    return found


@pytest.mark.parametrize(
    ("planted", "cell", "due", "answer"),
    [
        (0.0, {}, Due.NOT_SLOWER, Answer.RIGHT),
        (0.003, {"ratio": 1.003}, Due.NOT_SLOWER, Answer.RIGHT),
        (0.02, {"ratio": 1.0198}, Due.SLOWER, Answer.RIGHT),
        (0.005, {"ratio": 1.005}, Due.EITHER, Answer.RIGHT),
        (0.0, {"ratio": 1.03}, Due.NOT_SLOWER, Answer.ALARM),
        (0.02, {"ratio": 1.0}, Due.SLOWER, Answer.MISSED),
        (0.02, {"ratio": 0.9}, Due.SLOWER, Answer.MISSED),
        (0.05, {"ratio": 1.02}, Due.SLOWER, Answer.UNTRUE),
        (0.0, {"ratio": 0.97}, Due.NOT_SLOWER, Answer.UNTRUE),
        (0.02, {"ratio": 1.0198, "spread": 0.05}, Due.SLOWER, Answer.OPEN),
        (0.0, {"spread": 0.05}, Due.NOT_SLOWER, Answer.RIGHT),
        (0.02, {"ratio": 1.0198, "voided": frozenset(range(36))}, Due.NOT_SLOWER, Answer.UNMEASURED),
    ],
)
def test_each_answer(planted: float, cell: dict[str, Any], due: Due, answer: Answer) -> None:
    found = checked(planted, **cell)
    assert found.answer is answer
    if answer is not Answer.UNMEASURED:
        assert found.due is due


def test_what_launching_takes_is_no_part_of_the_expected_slowdown() -> None:
    found = checked(0.02, ratio=1.0198)
    assert found.expected == pytest.approx(0.02 * (1 - LAUNCHING), rel=0.01)
    assert found.planted == 0.02
    # planted is a little more than the min effect, what is left of it a little less: then either answer is right
    assert checked(0.01005, ratio=1.01).due is Due.EITHER


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_round_or_two_contradict_no_size(rounds: int) -> None:
    assert checked(0.5, rounds=rounds, spread=1.0).answer is Answer.OPEN


def selftest(same: list[CheckedCell], planted: list[CheckedCell]) -> Selftest:
    gates = [CheckedGate(cells=cells, rounds=16, wall_s=10.0) for cells in (same, planted)]
    fingerprint = record([]).header.fingerprint
    return Selftest(
        schema_version=1,
        solwatch="0.1.0",
        created_at="2026-03-04T05:00:00Z",
        machine="m",
        seed=1,
        fingerprint=fingerprint,
        usual_min_effect=0.01,
        min_effect=0.01,
        same=gates[0],
        planted=gates[1],
    )


def test_exit_codes_wrong_before_open_before_right() -> None:
    equal, caught = checked(0.0), checked(0.02, ratio=1.0198)
    left_open = checked(0.02, ratio=1.0198, spread=0.05)
    alarm, noisy = checked(0.0, ratio=1.03), checked(0.0, spread=0.05)
    assert noisy.verdict is Verdict.UNDECIDED
    assert selftest([equal], [equal, caught]).exit_code == ExitCode.OK
    assert selftest([equal, noisy], [caught]).exit_code == ExitCode.OK
    assert selftest([equal], [caught, left_open]).exit_code == ExitCode.UNDECIDED
    assert selftest([noisy], [caught]).exit_code == ExitCode.UNDECIDED
    assert selftest([noisy], [caught, noisy]).exit_code == ExitCode.UNDECIDED
    assert selftest([noisy], [caught, equal]).exit_code == ExitCode.OK
    assert selftest([alarm], [left_open]).exit_code == ExitCode.UNTRUSTED
    assert selftest([alarm], [caught]).wrong == [alarm]


def test_the_smallest_size_that_is_due() -> None:
    cells = [checked(0.0), checked(0.005, ratio=1.005), checked(0.05, ratio=1.0495), checked(0.02, ratio=1.0198)]
    assert smallest_due(cells) == 0.02
    assert smallest_due(cells[:2]) is None
