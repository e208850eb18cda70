"""The parts of the replay: exact bounds, clusters, the walk that uses each round once."""

import math
import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from fakes.corpora import corpus, write
from fakes.records import FakeCell

from replays.bootstrap import BLOCK_ROUNDS, blocks_of, bootstrap, clusters_of, middle, resampled
from replays.bounds import fewest_trials, upper_rate, upper_share
from replays.drawing import replay
from replays.recorded import Recorded, Stretch, stretches
from replays.walk import walked
from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config
from solwatch.model.errors import RequestError

RULE = TwoStage.from_config(Config())
ALARM = 0.02 / len(RULE.looks)


def stretch(values: list[float], *, occasion: str = "one", name: str = "f", slots: list[int] | None = None) -> Stretch:
    cell = Recorded(values, base_s=1e-3, min_effect=0.01, margin=0.003)
    return Stretch(name, occasion, slots or [0] * len(values), {"a": cell})


def quiet(count: int, centre: float = 0.0) -> list[float]:
    return [centre + (1e-4 if at % 2 else -1e-4) for at in range(count)]


def test_bounds_are_exact() -> None:
    # Without a case: 1 - 0.05^(1/n) of a share, -log(0.05) / n of a rate.
    assert upper_share(0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000))
    assert upper_share(1000, 1000) == 1.0
    assert upper_rate(0, 25) == pytest.approx(-math.log(0.05) / 25)
    # With two events a rate of 6.30 gives so few in 5 % of cases: P(0) + P(1) + P(2) = 0.05.
    rate = upper_rate(2, 1)
    assert math.exp(-rate) * (1 + rate + rate**2 / 2) == pytest.approx(0.05)
    assert fewest_trials(0.1) == 30
    assert upper_rate(0, 30) <= 0.1 < upper_rate(0, 29)


def test_clusters_are_blocks_until_there_are_three_occasions() -> None:
    two = [stretch(quiet(23), occasion=name) for name in ("one", "two")]
    assert clusters_of(two) == "10 blocks of 5 consecutive rounds: 2 of 3 occasions"
    assert clusters_of([*two, stretch(quiet(23), occasion="three")]) == "3 occasions"


def test_resampling_keeps_the_rounds_of_a_block_together() -> None:
    one = stretch([float(at) for at in range(23)])
    assert [len(block) for block in blocks_of(one)] == [BLOCK_ROUNDS] * 4 + [3]
    [drawn] = resampled([one], random.Random(1))
    values = drawn.cells["a"].by_slot
    assert len(values) == len(drawn.head_slots)
    starts = [at for at, value in enumerate(values) if value % BLOCK_ROUNDS == 0]
    assert len(starts) == 5
    for start in starts:
        block = values[start : start + (3 if values[start] == 20 else BLOCK_ROUNDS)]
        assert block == [values[start] + step for step in range(len(block))]


def test_resampling_keeps_the_files_of_an_occasion_together() -> None:
    files = [stretch(quiet(20), occasion=name, name=f"{name}-{at}") for name in ("x", "y", "z") for at in (1, 2)]
    counted = Counter(each.name for each in resampled(files, random.Random(5)))
    assert sum(counted.values()) == 6
    assert all(counted[f"{name}-1"] == counted[f"{name}-2"] for name in "xyz")
    assert len({resampled(files, random.Random(seed))[0].name for seed in range(9)}) == 3


def test_the_interval_is_wide_where_occasions_differ_and_none_where_they_do_not() -> None:
    steady = [stretch(quiet(20), occasion=name) for name in ("x", "y", "z")]
    assert bootstrap(steady, RULE, resamples=20, runs=2, seed=1).suspects == (0.0, 0.0)
    # Four rounds of five lie far on one side by the coin: two modes, as a wandering machine has them.
    restless = [*steady[:2], stretch([0.05 if at % 8 < 4 else 0.0501 for at in range(20)], occasion="z")]
    found = bootstrap(restless, RULE, resamples=20, runs=20, seed=1)
    assert found.suspects[0] < found.suspects[1]
    assert found.clusters == "3 occasions"
    assert middle([float(value) for value in range(1, 101)]) == (3.0, 98.0)


def test_a_run_is_drawn_within_one_occasion() -> None:
    # Rounds of +5 and of -5 % would look like noise if they were mixed; each alone gives suspects by its coins.
    mixed = [stretch(quiet(20, 0.05), occasion="x"), stretch(quiet(20, 1e-5), occasion="y")]
    tally = replay(mixed, RULE, runs=60, planted=0.02, seed="1")
    calm = replay(mixed[1:], RULE, runs=60, planted=0.02, seed="1")
    assert calm.alarm_runs == 60
    assert 15 <= tally.alarm_runs < 60


def test_the_walk_uses_each_round_once_with_the_coin_that_fell() -> None:
    seven = walked([stretch(quiet(70))], RULE)
    assert (seven.runs, seven.rounds, seven.left, seven.suspects) == (10, 70, 0, 0)
    left = walked([stretch(quiet(73)), stretch(quiet(6))], RULE)
    assert (left.runs, left.rounds, left.left) == (10, 70, 9)
    assert left.suspects_upper == pytest.approx(-math.log(0.05) / 10)
    # slot 0 is 5 % slower: with head always there it is slower, with head always in the other it is faster
    slow = walked([stretch(quiet(24, 0.05))], RULE)
    assert (slow.runs, slow.suspects, slow.suspect_runs, slow.alarm_runs) == (2, 2, 2, 2)
    fast = walked([stretch(quiet(24, 0.05), slots=[1] * 24)], RULE)
    assert (fast.runs, fast.suspects, fast.alarm_runs) == (4, 0, 0)


def test_a_suspect_in_the_rounds_that_are_left_over_counts_and_they_are_no_run() -> None:
    found = walked([stretch([*quiet(7), *quiet(8, 0.05)])], RULE)
    assert (found.runs, found.left, found.suspects, found.suspect_runs) == (1, 8, 1, 1)
    assert found.suspect_share_upper == 1.0


def test_the_model_of_the_tail_counts_what_a_looser_screen_would_suspect() -> None:
    calm = walked([stretch(quiet(70))], RULE)
    assert (calm.near, calm.modelled_upper) == (0, pytest.approx(-math.log(0.05) / 100))
    # t = 5.0 with 4 degrees of freedom: p = 0.0037, above the screen's level of 0.002, within ten times that.
    spread = 0.002
    near = [0.003 + spread * (2.2 + step) for step in (-1.0, 1.0, -1.0, 1.0, 0.0)]
    restless = walked([stretch([*near, *quiet(40, -0.003)])], RULE)
    assert (restless.suspects, restless.near) == (0, 1)
    assert restless.modelled_upper > -math.log(0.05) / restless.runs / 10


def test_without_a_run_nothing_is_bounded() -> None:
    none = walked([stretch(quiet(3))], RULE)
    assert (none.runs, none.suspects_upper, none.modelled_upper, none.suspect_share_upper) == (0, math.inf, math.inf, 1)


def test_occasions_are_read_and_a_file_without_one_stands_for_itself(tmp_path: Path) -> None:
    made = corpus([FakeCell(key="a")], rounds=20)
    nameless = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, occasion=""))
    paths = [write(tmp_path / "one.jsonl", made), write(tmp_path / "two.jsonl", nameless)]
    assert [each.occasion for each in stretches(paths, Config())] == ["made for a test", "two.jsonl"]
    with pytest.raises(RequestError, match="0 of 0 corpus files are labelled a/a"):
        stretches([], Config())
