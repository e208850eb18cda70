"""What min effect a selftest lets a machine claim: closed form, direction, and kept where it is claimed."""

import math
import random

import pytest
from fakes.records import CPU, CPU_CEILINGS, FakeCell, record

from solwatch.judge.calibration import STEPS
from solwatch.judge.holding import held_min_effect
from solwatch.judge.judging import judge
from solwatch.judge.rule import ComparedCell, Replicate
from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config
from solwatch.model.verdict import Verdict

CONFIG = Config()
RULE = TwoStage.from_config(CONFIG)


def held(spread: float, *, rounds: int = 20, measured: int = 8, usual: float = 0.1) -> float:
    cells = [FakeCell(key=f"cell {number}", base_s=1e-3, spread=spread) for number in range(10)]
    taken = record(cells, rounds=measured, fingerprint=CPU, ceilings=CPU_CEILINGS)
    return held_min_effect(judge(taken), CONFIG, usual=usual, rounds=rounds, seed=1)


def test_a_quiet_machine_claims_what_is_usual() -> None:
    assert held(0.0) == held(0.005) == 0.1
    assert held(0.0, usual=0.07) == 0.07


def test_more_noise_claims_less_and_more_rounds_more() -> None:
    sizes = [held(spread) for spread in (0.01, 0.02, 0.03, 0.04)]
    assert sizes == sorted(sizes)
    assert 0.1 == sizes[0] < sizes[-1] < 0.8
    assert set(sizes) <= set(STEPS)
    assert held(0.04, rounds=40) < held(0.04, rounds=18)


def test_where_nothing_is_held_nothing_else_is_claimed() -> None:
    assert held(5.0) == held(0.01, rounds=RULE.least_rounds - 1) == held(0.05, measured=0) == 0.1


def test_rounds_that_only_noisy_cells_have_do_not_count() -> None:
    cells = [FakeCell(key=f"cell {number}", base_s=1e-3, spread=0.01) for number in range(10)]
    wild = [FakeCell(key="cell 0", base_s=1e-3, spread=2.0)]
    taken, noisy = (record(each, rounds=16, fingerprint=CPU, ceilings=CPU_CEILINGS) for each in (cells, wild))
    taken.rounds[8:] = noisy.rounds[8:]
    assert held_min_effect(judge(taken), CONFIG, usual=0.1, rounds=20, seed=1) == 0.1


@pytest.mark.parametrize("spread", [0.02, 0.05])
def test_what_is_claimed_is_caught(spread: float) -> None:
    rounds, dice = 20, random.Random(3)
    size = held(spread / math.sqrt(2), rounds=rounds)  # of one side: the ratio has that of both
    planted = math.log1p(1.25 * size)
    caught = 0
    for _ in range(40):
        cells = [
            ComparedCell(
                key=f"cell {number}",
                replicates=[Replicate(at, 0, dice.gauss(planted, spread)) for at in range(1, rounds + 1)],
                min_effect=size,
                margin=CONFIG.margin_fraction * size,
            )
            for number in range(10)
        ]
        decided = RULE.decide(cells, family=10, completed=rounds, ended=True)
        caught += sum(each.verdict is Verdict.SLOWER for each in decided.values())
    assert caught >= 0.98 * 400
