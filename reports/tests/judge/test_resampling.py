"""Gates drawn from recorded rounds: closed form without noise, direction, size, seeds."""

import random

from solwatch.judge.resampling import Held, Ratios, caught_shares
from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config

RULE = TwoStage.from_config(Config())


def shares(recorded: dict[str, Ratios], planted: float, *, gates: int = 100, seed: int = 1) -> dict[str, float]:
    return caught_shares(recorded, dict.fromkeys(recorded, Held(0.01, 0.003, planted)), RULE, gates=gates, seed=seed)


def noise(spread: float, cells: int = 4, rounds: int = 20) -> dict[str, Ratios]:
    dice = random.Random(7)
    return {f"cell {number}": [dice.gauss(0, spread) for _ in range(rounds)] for number in range(cells)}


def test_without_noise_everything_above_the_margin_is_caught_and_nothing_else() -> None:
    still: dict[str, Ratios] = {"a": [0.0] * 20}
    assert shares(still, 0.004) == {"a": 1.0}
    assert shares(still, 0.003) == {"a": 0.0}
    assert shares(still, 0.0) == {"a": 0.0}
    assert shares(still, -0.05) == {"a": 0.0}


def test_more_is_caught_of_larger_sizes_and_less_in_more_noise() -> None:
    means = [sum(shares(noise(0.003), size).values()) / 4 for size in (0.003, 0.006, 0.01, 0.02)]
    assert means == sorted(means)
    assert means[0] <= 0.01
    assert means[-1] == 1.0
    assert sum(shares(noise(0.012), 0.01).values()) < sum(shares(noise(0.003), 0.01).values())


def test_one_seed_gives_one_answer_and_an_offset_of_the_slots_does_not_matter() -> None:
    recorded = noise(0.005)
    assert shares(recorded, 0.008, seed=3) == shares(recorded, 0.008, seed=3)
    mirrored = {key: [-ratio for ratio in ratios if ratio is not None] for key, ratios in recorded.items()}
    assert abs(shares(recorded, 0.01)["cell 0"] - shares(mirrored, 0.01)["cell 0"]) < 0.2


def test_a_cell_without_some_rounds_is_judged_by_the_others() -> None:
    recorded: dict[str, Ratios] = {"whole": [0.0] * 20, "holes": [0.0, None] * 10}
    assert shares(recorded, 0.02)["holes"] > 0.9
    gone: dict[str, Ratios] = {"whole": [0.0] * 20, "gone": [None] * 20}
    assert shares(gone, 0.02) == {"whole": 1.0, "gone": 0.0}


def test_a_cell_is_held_to_its_own_budget_of_rounds() -> None:
    still: dict[str, Ratios] = {"a": [0.0] * 20, "b": [0.0] * 20}
    short = RULE.least_rounds - 1
    held = {"a": Held(0.01, 0.003, 0.02, most_rounds=short), "b": Held(0.01, 0.003, 0.02)}
    assert caught_shares(still, held, RULE, gates=20, seed=1) == {"a": 0.0, "b": 1.0}
