"""The rule as a whole: closed cases, its looks, what becomes of suspects, its error rates on noise of many kinds."""

import math
import random
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.judge.rule import ComparedCell, Decision, Replicate
from solwatch.judge.two_stage import CONFIRM_ROUNDS, MOST_SUSPECTS, TwoStage
from solwatch.model.config import Config
from solwatch.model.errors import ExitCode, RequestError
from solwatch.model.verdict import Reason, Verdict

RULE = TwoStage.from_config(Config())


def cell(
    log_ratios: Iterable[float], key: str = "a", min_effect: float = 0.01, void: frozenset[int] = frozenset()
) -> ComparedCell:
    return ComparedCell(
        key=key,
        replicates=[
            Replicate(ordinal, 0, value) for ordinal, value in enumerate(log_ratios, start=1) if ordinal not in void
        ],
        min_effect=min_effect,
        margin=0.3 * min_effect,
    )


def wobble(centre: float, size: float, count: int) -> list[float]:
    return [centre + (size if index % 2 else -size) for index in range(count)]


def decide(log_ratios: list[float], *, ended: bool = False, rule: TwoStage = RULE, family: int = 1) -> Decision:
    return rule.decide([cell(log_ratios)], family=family, completed=len(log_ratios), ended=ended)["a"]


def test_the_configuration_gives_its_rates_and_its_looks_in_order() -> None:
    rule = TwoStage.from_config(Config(rounds=[10, 4, 10], false_alarm_rate=0.002, miss_rate=0.03))
    assert (rule.confirm_rate, rule.miss_rate, rule.looks) == (0.02, 0.03, [4, 10])
    assert (rule.least_rounds, rule.most_rounds) == (10, 30)
    assert "4, 10 rounds" in rule.text


def test_a_rate_that_fresh_rounds_can_not_reach_is_a_wrong_request() -> None:
    with pytest.raises(RequestError, match=r"false_alarm_rate is 1e-08: .* choose 1\.2e-07 or more") as caught:
        TwoStage.from_config(Config(false_alarm_rate=1e-8))
    assert caught.value.exit_code is ExitCode.USAGE
    assert TwoStage.from_config(Config(false_alarm_rate=2e-7)).confirm_rate == pytest.approx(2e-6)


def test_a_clear_slowdown_is_suspected_at_the_first_look_and_confirmed_by_seven_fresh_rounds() -> None:
    early, late = decide(wobble(0.05, 0.0005, 11)), decide(wobble(0.05, 0.0005, 12))
    assert (early.verdict, early.reason, early.final) == (Verdict.UNDECIDED, Reason.UNCONFIRMED, False)
    assert (late.verdict, late.reason, late.final) == (Verdict.SLOWER, Reason.ABOVE_MARGIN, True)
    assert (early.suspected_at, late.suspected_at, late.decided_at) == (5, 5, 12)
    assert late.p_value is not None
    assert late.p_value <= 0.01


def test_a_run_shorter_than_the_least_can_not_call_anything_slower() -> None:
    assert RULE.least_rounds == 12
    assert decide([0.5] * 11, ended=True).verdict is Verdict.UNDECIDED
    assert decide([0.5] * 12, ended=True).verdict is Verdict.SLOWER


def test_a_clear_speed_up_is_faster_without_a_second_stage() -> None:
    decision = decide(wobble(-0.05, 0.0005, 5))
    assert (decision.verdict, decision.final, decision.suspected_at) == (Verdict.FASTER, True, None)
    assert decision.p_value == 1.0


def test_no_change_is_unchanged_once_chance_could_not_have_put_all_rounds_on_one_side() -> None:
    early, late = decide(wobble(0.0, 0.0005, 6)), decide(wobble(0.0, 0.0005, 7))
    assert (early.verdict, early.final) == (Verdict.UNDECIDED, False)
    assert (late.verdict, late.reason, late.final) == (Verdict.UNCHANGED, Reason.WITHIN_MIN_EFFECT, True)
    assert decide(wobble(0.0, 0.0005, 5), ended=True).verdict is Verdict.UNCHANGED


def test_a_probable_speed_up_is_not_called_unchanged_before_the_last_look() -> None:
    rounds = wobble(-0.03, 0.02, 16)
    early, late = decide(rounds[:8]), decide(rounds)
    assert (early.verdict, early.final) == (Verdict.UNCHANGED, False)
    assert (late.verdict, late.final) == (Verdict.FASTER, True)


def test_noise_leaves_a_cell_undecided_and_says_what_could_have_been_seen() -> None:
    dice = random.Random(2)
    decision = decide([dice.gauss(0.005, 0.05) for _ in range(24)])
    assert (decision.verdict, decision.reason, decision.final) == (Verdict.UNDECIDED, Reason.NOISE, True)
    assert decision.mde is not None
    assert decision.mde > 0.05


def test_two_heaps_are_named() -> None:
    decision = decide(wobble(0.005, 0.05, 16))
    assert (decision.verdict, decision.reason) == (Verdict.UNDECIDED, Reason.TWO_MODES)


def test_between_looks_no_suspect_is_found() -> None:
    rounds = [*wobble(0.0, 0.05, 8), *wobble(0.05, 0.0005, 8)]
    assert decide(rounds[:9]).suspected_at is None
    assert decide(rounds[:15], rule=TwoStage(0.01, 0.01, [8, 16])).suspected_at is None
    assert decide(rounds, rule=TwoStage(0.01, 0.01, [8, 16])).suspected_at is None
    assert decide([*wobble(0.05, 0.0005, 16)], rule=TwoStage(0.01, 0.01, [8, 16])).suspected_at == 8


def test_a_run_that_ends_between_looks_takes_one_there() -> None:
    rounds = wobble(-0.05, 0.0005, 4)
    assert decide(rounds).verdict is Verdict.UNDECIDED
    ended = decide(rounds, ended=True)
    assert (ended.verdict, ended.decided_at, ended.final) == (Verdict.FASTER, 4, True)


def test_a_suspect_that_came_out_equal_in_fresh_rounds_is_given_up_before_all_of_them() -> None:
    rounds = [*wobble(0.05, 0.0005, 5), *wobble(0.0, 0.0005, CONFIRM_ROUNDS)]
    decisions = [decide(rounds[:count]) for count in range(5, len(rounds) + 1)]
    assert all(each.verdict is Verdict.UNDECIDED and each.reason is Reason.UNCONFIRMED for each in decisions)
    given_up = next(count for count, each in enumerate(decisions) if each.final)
    assert given_up < 16
    assert all(each.final for each in decisions[given_up:])


@given(st.lists(st.floats(min_value=-0.1, max_value=0.1), min_size=60, max_size=60), st.sets(st.integers(6, 60)))
@settings(max_examples=60, deadline=None)
def test_every_suspect_is_confirmed_or_given_up_in_the_end_however_many_rounds_are_void(
    later: list[float], void: set[int]
) -> None:
    compared = cell([*wobble(0.05, 0.0005, 5), *later], void=frozenset(void))
    decision = RULE.decide([compared], family=1, completed=65, ended=False)["a"]
    assert decision.suspected_at == 5
    assert decision.final


@pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf])
def test_a_ratio_that_is_no_number_decides_nothing_and_ends_all_the_same(wild: float) -> None:
    assert decide([wild, *wobble(0.05, 0.0005, 15)]).verdict is Verdict.UNDECIDED
    assert decide([*wobble(0.05, 0.0005, 5), *[wild] * 40]).final
    late = decide([*wobble(0.05, 0.0005, 5), wild, *wobble(0.05, 0.0005, 12)])
    assert (late.verdict is Verdict.SLOWER) == (wild != -math.inf)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_rounds_decide_nothing(count: int) -> None:
    decision = decide([0.5, 0.5][:count], ended=True)
    assert (decision.verdict, decision.p_value, decision.mde) == (Verdict.UNDECIDED, None, None)


def test_equal_rounds_without_any_spread_are_decided() -> None:
    assert decide([0.05] * 12).verdict is Verdict.SLOWER
    assert decide([0.0] * 7).verdict is Verdict.UNCHANGED
    assert decide([-0.05] * 5).verdict is Verdict.FASTER


def test_a_verdict_stands_whatever_the_later_rounds_say() -> None:
    decision = decide([*wobble(0.05, 0.0005, 12), *wobble(-0.05, 0.0005, 10)])
    assert (decision.verdict, decision.decided_at) == (Verdict.SLOWER, 12)


def test_a_larger_family_asks_for_more_evidence() -> None:
    rounds = wobble(0.02, 0.003, 5)
    assert decide(rounds, family=1).suspected_at == 5
    assert decide(rounds, family=1000).suspected_at is None


def test_no_cells_are_no_decisions() -> None:
    assert RULE.decide([], family=0, completed=16, ended=True) == {}


def test_a_noisy_cell_and_the_null_kernel_do_not_hide_what_a_quiet_one_shows() -> None:
    cells = [
        cell(wobble(0.01, 0.001, 12)),
        cell(wobble(0.0, 0.2, 12), key="noisy"),
        cell(wobble(0.0, 0.05, 12), key=NULL_KERNEL),
    ]
    assert RULE.decide(cells, family=3, completed=12, ended=True)["a"].verdict is Verdict.SLOWER


def gaussian_cells(seed: int, effect: float, count: int = 6) -> list[ComparedCell]:
    dice = random.Random(seed)
    return [cell([effect + dice.gauss(0, 0.004) for _ in range(36)], key=str(index)) for index in range(count)]


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.01, -0.01]), st.permutations(range(6)))
@settings(max_examples=40, deadline=None)
def test_the_order_of_cells_and_later_rounds_of_others_do_not_matter(
    seed: int, effect: float, order: list[int]
) -> None:
    cells = gaussian_cells(seed, effect)
    found = RULE.decide(cells, family=6, completed=36, ended=True)
    assert RULE.decide([cells[index] for index in order], family=6, completed=36, ended=True) == found
    for completed in range(0, 36, 3):
        here = RULE.decide(cells, family=6, completed=completed, ended=False)
        for key, decision in here.items():
            if decision.final and decision.suspected_at is None:
                assert (found[key].verdict, found[key].decided_at) == (decision.verdict, decision.decided_at)


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_what_gets_faster_is_never_slower(seed: int) -> None:
    found = RULE.decide(gaussian_cells(seed, -0.01), family=6, completed=36, ended=True)
    assert not any(each.verdict is Verdict.SLOWER for each in found.values())


# --- error rates over simulated commits: the coin decides the sign of what a pair of processes does -----------------

RUNS, CELLS = 500, 8
Noise = Callable[[random.Random, int, int], float]


def normal(dice: random.Random, index: int, ordinal: int) -> float:
    return dice.gauss(0, 0.004)


def two_modes(dice: random.Random, index: int, ordinal: int) -> float:
    return dice.gauss(0, 0.001) + dice.choice([-0.008, 0.0, 0.008])


def drift(dice: random.Random, index: int, ordinal: int) -> float:
    return dice.choice([-1, 1]) * 0.001 * ordinal + dice.gauss(0, 0.001)


def cauchy(dice: random.Random, index: int, ordinal: int) -> float:
    return 0.002 * math.tan(math.pi * (dice.random() - 0.5))


def one_bad_process(dice: random.Random, index: int, ordinal: int) -> float:
    return dice.gauss(0, 0.002) + (dice.choice([-0.3, 0.3]) if ordinal == 3 else 0.0)


def timer_steps(dice: random.Random, index: int, ordinal: int) -> float:
    head, base = (round(dice.gauss(12e-6, 20e-9) / 32e-9) for _ in range(2))
    return math.log(head / base)


def bad_prior(dice: random.Random, index: int, ordinal: int) -> float:
    # Seven cells without any noise say nothing of the eighth.
    return dice.gauss(0, 0.02 if index == 0 else 1e-6)


NOISES: list[Noise] = [normal, two_modes, drift, cauchy, one_bad_process, timer_steps, bad_prior]


def alarms_and_suspects(noise: Noise, effect: float) -> tuple[int, int]:
    """Return in how many commits some cell was called slower, and how many suspects there were in all."""
    dice = random.Random(20261130)
    alarms = suspects = 0
    for _ in range(RUNS):
        cells = [
            cell([math.log1p(effect) + noise(dice, index, ordinal) for ordinal in range(1, 37)], key=str(index))
            for index in range(CELLS)
        ]
        decisions = RULE.decide(cells, family=CELLS, completed=36, ended=True)
        alarms += any(decision.verdict is Verdict.SLOWER for decision in decisions.values())
        suspects += sum(decision.suspected_at is not None for decision in decisions.values())
    return alarms, suspects


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.__name__)
def test_nothing_that_stayed_as_it_was_is_called_slower(noise: Noise) -> None:
    alarms, suspects = alarms_and_suspects(noise, 0.0)
    assert alarms == 0
    assert suspects <= 0.02 * RUNS


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.__name__)
def test_at_the_margin_itself_alarms_are_as_rare_as_promised(noise: Noise) -> None:
    alarms, suspects = alarms_and_suspects(noise, 0.003)
    # 0.1 % of 500 commits is half a commit.
    assert alarms <= 1
    assert suspects <= MOST_SUSPECTS * RUNS


def test_without_the_screen_the_confirmation_alone_keeps_to_its_rate() -> None:
    # A first stage that is always wrong: every cell is a suspect, though it stayed at the margin.
    dice = random.Random(7)
    alarms, trials = 0, 4000
    for _ in range(trials):
        fresh = [math.log1p(0.003) + dice.choice([-1, 1]) * dice.expovariate(200) for _ in range(CONFIRM_ROUNDS)]
        alarms += decide([*wobble(0.012, 0.001, 5), *fresh]).verdict is Verdict.SLOWER
    # 40 at most on average, standard deviation 6.3.
    assert 5 <= alarms <= 53


@pytest.mark.parametrize(
    ("spread", "effect", "least"), [(0.0026, 0.01, 0.99), (0.0013, 0.01, 0.995), (0.0045, 0.02, 0.99)]
)
def test_slowdowns_are_caught_with_the_scatter_that_the_corpus_shows(
    spread: float, effect: float, least: float
) -> None:
    dice = random.Random(11)
    caught = total = 0
    for _ in range(60):
        cells = [
            cell([math.log1p(effect) + dice.gauss(0, spread) for _ in range(36)], key=str(index)) for index in range(24)
        ]
        decisions = RULE.decide(cells, family=24, completed=36, ended=True)
        caught += sum(decision.verdict is Verdict.SLOWER for decision in decisions.values())
        total += len(cells)
    assert caught >= least * total


def test_a_cell_that_slowed_by_the_min_effect_is_rarely_called_unchanged() -> None:
    dice = random.Random(4)
    cells = [
        cell([math.log1p(0.01) + dice.gauss(0, 0.004) for _ in range(36)], key=str(index)) for index in range(1000)
    ]
    decisions = RULE.decide(cells, family=len(cells), completed=36, ended=True)
    # At most 10 expected, standard deviation 3.1.
    assert sum(decision.verdict is Verdict.UNCHANGED for decision in decisions.values()) <= 18
