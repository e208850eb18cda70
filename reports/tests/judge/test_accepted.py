"""Accepted slowdowns: what they let pass, what they don't, and that the rule's guarantees hold around them."""

import math
import random
from datetime import date
from typing import Any

import pytest
from fakes.records import FakeCell, acceptance, accepting, o_proj_work, record

from solwatch.judge.accepted import acceptance_notes, accepted_for, size_of
from solwatch.judge.judging import judge
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.judge.rule import ComparedCell, Decision, Replicate
from solwatch.judge.two_stage import CONFIRM_ROUNDS, MOST_SUSPECTS, TwoStage
from solwatch.model.acceptance import Acceptance
from solwatch.model.config import CellOverride, Config
from solwatch.model.errors import ExitCode
from solwatch.model.record import Record
from solwatch.model.reference import Reference
from solwatch.model.verdict import CellVerdict, Reason, Verdict

RULE = TwoStage.from_config(Config())
REFERENCE = Reference(setting="last-release", commit="tags/v1", why="the newest tag")


def first(taken: Record) -> CellVerdict:
    return judge(taken).verdicts[0]


def slowed(ratio: float, *entries: Acceptance, rounds: int = 36, **header: Any) -> Record:
    return accepting(record([FakeCell(key="a", ratio=ratio), FakeCell(key="b")], rounds=rounds), *entries, **header)


@pytest.mark.parametrize(
    ("ratio", "verdict", "code"),
    [
        (1.02, Verdict.ACCEPTED, ExitCode.OK),
        (1.029, Verdict.ACCEPTED, ExitCode.OK),
        (1.05, Verdict.SLOWER, ExitCode.SLOWER),
        (1.0, Verdict.UNCHANGED, ExitCode.OK),
        (0.95, Verdict.FASTER, ExitCode.OK),
    ],
)
def test_a_slowdown_passes_up_to_what_was_accepted(ratio: float, verdict: Verdict, code: ExitCode) -> None:
    judgement = judge(slowed(ratio, acceptance()))
    assert judgement.verdicts[0].verdict is verdict
    assert judgement.verdicts[1].verdict is Verdict.UNCHANGED
    assert judgement.exit_code == code
    assert judgement.coverage.text == "2 of 2 decided"
    assert judgement.final == ["a", "b"]


def test_without_the_acceptance_the_same_rounds_are_slower() -> None:
    assert first(slowed(1.02)).verdict is Verdict.SLOWER
    assert first(slowed(1.02, acceptance("b"))).verdict is Verdict.SLOWER
    assert first(slowed(1.02, acceptance("[ab]"))).verdict is Verdict.ACCEPTED


def test_the_evidence_names_size_owner_day_and_reason() -> None:
    cell = first(slowed(1.02, acceptance()))
    assert cell.reason is Reason.WITHIN_ACCEPTED
    assert cell.evidence[1].startswith("slower by 1.99 %, ")
    assert cell.evidence[1].endswith("accepted up to 3 % by Ada until 2026-05-01: exact rounding")
    assert cell.evidence[2].startswith("a slowdown of 4.03 % or more, what was accepted and the min effect, is ruled")
    worse = first(slowed(1.05, acceptance()))
    assert "more than was accepted: up to 3 % by Ada" in worse.evidence[1]
    assert worse.evidence[2].startswith("a slowdown of up to 3.31 %, what was accepted and the margin, is ruled out")


def test_several_acceptances_of_a_cell_multiply() -> None:
    assert size_of([acceptance(), acceptance("*")]) == pytest.approx(1.03**2 - 1)
    assert size_of([]) == 0.0
    assert first(slowed(1.055, acceptance(), acceptance("*"))).verdict is Verdict.ACCEPTED
    assert first(slowed(1.08, acceptance(), acceptance("*"))).verdict is Verdict.SLOWER


def test_a_glob_does_not_take_the_null_kernel_along() -> None:
    header = slowed(1.0, acceptance("*"), acceptance(NULL_KERNEL, 0.5)).header
    assert size_of(accepted_for(header, NULL_KERNEL)) == 0.5
    assert size_of(accepted_for(header, "b")) == 0.03


def test_a_cell_whose_name_has_brackets_answers_to_its_name() -> None:
    name = "suite.time_sum([1, 2], '*')"
    other = "suite.time_sum(1, 'x')"
    keys = [name, other]
    assert [key for key in keys if acceptance(name).covers(key, keys)] == [name]
    assert [key for key in keys if acceptance("suite.time_sum(*").covers(key, keys)] == keys


@pytest.mark.parametrize(
    ("expires", "reference", "verdict", "said"),
    [
        (date(2026, 3, 4), None, Verdict.ACCEPTED, "expires on 2026-03-04, in 0 days: repair the kernel, or renew it"),
        (date(2026, 3, 4), REFERENCE, Verdict.ACCEPTED, "expires on 2026-03-04, in 0 days"),
        (date(2026, 3, 18), None, Verdict.ACCEPTED, "expires on 2026-03-18, in 14 days"),
        (date(2026, 3, 19), None, Verdict.ACCEPTED, None),
        (date(2026, 3, 3), None, Verdict.ACCEPTED, "on 2026-03-03: it still holds here, but not against the reference"),
        (date(2026, 3, 3), REFERENCE, Verdict.SLOWER, "expired on 2026-03-03: it holds no longer"),
    ],
)  # fmt: skip
def test_expiry_is_said_early_and_fails_only_against_the_reference(
    expires: date, reference: Reference | None, verdict: Verdict, said: str | None
) -> None:
    taken = slowed(1.02, acceptance(expires=expires), reference=reference)
    assert first(taken).verdict is verdict
    notes = acceptance_notes(taken.header)
    assert len(notes) == (said is not None)
    assert said is None or said in notes[0]
    lapsed = [line for line in first(taken).evidence if "no longer accepted" in line]
    assert len(lapsed) == (verdict is Verdict.SLOWER)


def test_an_acceptance_of_no_cell_is_pointed_out() -> None:
    (note,) = acceptance_notes(slowed(1.0, acceptance("c")).header)
    assert note == "the acceptance of 3 % for c by Ada is for no cell that was measured here"


def test_a_floor_stands_whatever_was_accepted() -> None:
    work = o_proj_work(16, 4096, 4096)
    config = Config(cells=[CellOverride(match="a", sol_floor=0.5)])
    taken = record([FakeCell(key="a", ratio=1.02, work=work)], rounds=36, config=config)
    assert first(accepting(taken, acceptance())).verdict is Verdict.BELOW_FLOOR


def test_a_noisy_cell_is_undecided_and_its_mde_counts_from_what_was_accepted() -> None:
    plain, shifted = (
        first(accepting(record([FakeCell(key="a", spread=0.1)], rounds=16, stopped="rounds"), *entries))
        for entries in ([], [acceptance(share=0.5)])
    )
    assert plain.verdict is Verdict.UNDECIDED
    assert plain.mde is not None
    assert shifted.mde is not None
    assert 1 + shifted.mde == pytest.approx(1.5 * (1 + plain.mde))


# --- the rule on simulated series: the guarantees are those of the plain rule, around another size ------------------

ACCEPTED = 0.03


def cell(log_ratios: list[float], accepted: float = ACCEPTED, key: str = "a") -> ComparedCell:
    replicates = [Replicate(ordinal, 0, value) for ordinal, value in enumerate(log_ratios, start=1)]
    return ComparedCell(key=key, replicates=replicates, min_effect=0.01, margin=0.003, accepted=accepted)


def decide(log_ratios: list[float], accepted: float = ACCEPTED, *, ended: bool = False) -> Decision:
    return RULE.decide([cell(log_ratios, accepted)], family=1, completed=len(log_ratios), ended=ended)["a"]


def wobble(effect: float, size: float, count: int) -> list[float]:
    return [math.log1p(effect) + (size if index % 2 else -size) for index in range(count)]


def test_the_shift_is_all_there_is_to_it() -> None:
    dice = random.Random(3)
    for _ in range(200):
        series = [math.log1p(dice.choice([0.0, 0.003, 0.02])) + dice.gauss(0, 0.003) for _ in range(36)]
        plain = decide(series, 0.0, ended=True)
        shifted = decide([value + math.log1p(ACCEPTED) for value in series], ended=True)
        assert (plain.verdict is Verdict.SLOWER) == (shifted.verdict is Verdict.SLOWER)
        assert plain.suspected_at == shifted.suspected_at


def test_an_accepted_slowdown_ends_as_soon_as_an_unchanged_cell_would() -> None:
    early, late = decide(wobble(0.02, 0.0005, 6)), decide(wobble(0.02, 0.0005, 7))
    assert (early.verdict, early.final) == (Verdict.UNDECIDED, False)
    assert (late.verdict, late.reason, late.final) == (Verdict.ACCEPTED, Reason.WITHIN_ACCEPTED, True)


def test_a_cell_that_may_be_unchanged_goes_on_until_the_last_look() -> None:
    rounds = wobble(0.001, 0.009, RULE.looks[-1])
    early, late = decide(rounds[:8]), decide(rounds)
    assert (early.verdict, early.final) == (Verdict.ACCEPTED, False)
    assert (late.verdict, late.final) == (Verdict.UNCHANGED, True)
    between = decide(wobble(0.012, 0.015, RULE.looks[-1]))
    assert (between.verdict, between.final) == (Verdict.ACCEPTED, True)


def test_at_the_accepted_size_and_the_margin_alarms_are_as_rare_as_promised() -> None:
    dice = random.Random(20261130)
    runs, cells, alarms, suspects = 500, 8, 0, 0
    effect = math.log1p(ACCEPTED) + math.log1p(0.003)
    for _ in range(runs):
        family = [
            cell([effect + dice.choice([-1, 1]) * dice.expovariate(250) for _ in range(36)], key=str(index))
            for index in range(cells)
        ]
        decisions = RULE.decide(family, family=cells, completed=36, ended=True).values()
        alarms += any(each.verdict is Verdict.SLOWER for each in decisions)
        suspects += sum(each.suspected_at is not None for each in decisions)
    assert alarms <= 1
    assert suspects <= MOST_SUSPECTS * runs


def test_the_confirmation_alone_keeps_to_its_rate_around_the_accepted_size() -> None:
    dice = random.Random(8)
    effect = math.log1p(ACCEPTED) + math.log1p(0.003)
    alarms = 0
    for _ in range(4000):
        fresh = [effect + dice.choice([-1, 1]) * dice.expovariate(200) for _ in range(CONFIRM_ROUNDS)]
        alarms += decide([*wobble(0.043, 0.001, 5), *fresh]).verdict is Verdict.SLOWER
    # 40 at most on average, standard deviation 6.3.
    assert 5 <= alarms <= 53


def series(effect: float, count: int, seed: int) -> list[Decision]:
    dice = random.Random(seed)
    cells = [
        cell([math.log1p(effect) + dice.gauss(0, 0.004) for _ in range(36)], key=str(index)) for index in range(count)
    ]
    return list(RULE.decide(cells, family=count, completed=36, ended=True).values())


def test_a_slowdown_larger_than_accepted_by_the_min_effect_is_rarely_let_through() -> None:
    found = series(1.03 * 1.01 - 1, 1000, 4)
    # At most 10 expected, standard deviation 3.1.
    assert sum(each.verdict in (Verdict.ACCEPTED, Verdict.UNCHANGED) for each in found) <= 18


def test_what_slowed_by_the_min_effect_is_rarely_called_unchanged_though_more_was_accepted() -> None:
    found = series(0.01, 1000, 5)
    assert sum(each.verdict is Verdict.UNCHANGED for each in found) <= 18
    assert sum(each.verdict is Verdict.ACCEPTED for each in found) >= 950


def test_larger_slowdowns_are_caught_with_the_scatter_that_the_corpus_shows() -> None:
    dice = random.Random(11)
    caught = sum(
        decide([math.log(1.03 * 1.01) + dice.gauss(0, 0.0013) for _ in range(36)]).verdict is Verdict.SLOWER
        for _ in range(300)
    )
    assert caught >= 0.99 * 300
