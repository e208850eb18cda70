"""The rules of ``make judges``, each on samples whose answer is known, and the runs that they are given."""

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fakes.corpora import corpus, write
from fakes.records import FakeCell
from scipy.stats import mannwhitneyu

from judges.action_ratio import ActionRatio
from judges.asv_factor import AsvFactor
from judges.judge import Ruling
from judges.mann_whitney import MannWhitney, p_value
from judges.nvbench import NvbenchNoise
from judges.pytest_mean import PytestMean
from judges.recording import Process, Recording, recording, recordings
from judges.run import CELLS, Cell, Run, drawn, planted, sampled
from judges.rustc_perf import RustcPerf, significance_threshold
from judges.scores import scores
from judges.solwatch_gate import SolwatchGate
from solwatch.judge.rule import ComparedCell
from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config
from solwatch.model.errors import RequestError

STEADY = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0]
TOOLS = Path(__file__).resolve().parents[3] / ".ci"


def cell(head: list[float], base: list[float], history: list[float] | None = None) -> Cell:
    """Return a cell measured in one process a side, each sample a block of its own."""
    return Cell(
        key="a",
        heads=[np.array(head)],
        bases=[np.array(base)],
        head_samples_s=np.array(head),
        base_samples_s=np.array(base),
        history_s=np.array(history or [100.0, 101.0, 100.0]),
        compared=ComparedCell(key="a", replicates=[], min_effect=0.01, margin=0.003),
    )


def times(factor: float, values: list[float] = STEADY) -> list[float]:
    return [factor * value for value in values]


def aa(folder: Path, *, rounds: int = 40, label: str = "a/a", ratio: float = 1.0) -> Path:
    made = corpus([FakeCell(key=f"k{n}", base_s=n * 1e-6, ratio=ratio) for n in (20, 80)], label=label, rounds=rounds)
    return write(folder / f"{label.replace('/', '-')}.jsonl", made)


@pytest.mark.parametrize(
    ("factor", "head", "slower"),
    [
        (1.1, times(1.2), True),
        (1.1, times(1.09), False),  # different, but not by the factor
        (1.01, times(1.09), True),
        (1.01, times(1.02), False),  # above the factor, the samples overlap
        (1.01, times(0.8), False),
    ],
)
def test_asv_wants_the_factor_and_a_difference(factor: float, head: list[float], slower: bool) -> None:
    assert AsvFactor(factor).calls_slower(cell(head, STEADY)) is slower


def test_asv_takes_the_blocks_of_its_processes_and_no_more() -> None:
    half, twice = np.array(STEADY[:4]), np.array(times(2, STEADY[:4]))
    mixed = replace(cell(STEADY, STEADY), bases=[half, half], heads=[half, twice])
    assert not AsvFactor(1.1).calls_slower(mixed)
    assert not AsvFactor(1.1, processes=1).calls_slower(mixed)
    assert AsvFactor(1.1).calls_slower(replace(mixed, heads=[twice, twice]))
    assert AsvFactor(1.1).rule(Run(None, [mixed], None)).open_cells == [1, 1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("head", "slower"),
    [
        ([91.0, 113.0], True),  # 2 % slower: below its own noise, above base's
        ([100.5, 101.5], True),  # 1 % slower: below base's noise, above its own
        ([100.2, 102.0], False),  # 1.1 % slower: below both
    ],
)
def test_nvbench_takes_the_smaller_noise(head: list[float], slower: bool) -> None:
    # 100 ± 1.41 %
    base = [99.0, 101.0]
    assert NvbenchNoise().calls_slower(cell(head, base)) is slower


def test_nvbench_says_nothing_without_a_deviation_and_calls_no_speed_up() -> None:
    assert not NvbenchNoise().calls_slower(cell([200.0], [100.0]))
    assert not NvbenchNoise().calls_slower(cell([80.0, 80.5], [100.0, 100.5]))


@pytest.mark.parametrize(("head", "slower"), [(101.1, True), (100.9, False), (90.0, False)])
def test_pytest_benchmark_fails_above_a_percent_of_the_mean(head: float, slower: bool) -> None:
    assert PytestMean().calls_slower(cell([head - 50, head + 50], [0.0, 200.0])) is slower


@pytest.mark.parametrize(
    ("threshold", "head", "slower"),
    [(2.0, 199.0, False), (2.0, 201.0, True), (1.05, 104.0, False), (1.05, 106.0, True)],
)
def test_the_action_alerts_above_its_ratio(threshold: float, head: float, slower: bool) -> None:
    assert ActionRatio(threshold).calls_slower(cell([head], [100.0])) is slower


def test_rustc_perf_fences_the_changes_of_neighbours() -> None:
    # from 100, changes of 1, 2, 3 and 4 % of the value before: Q1 1.5, Q3 3.5, fence 3.5 + 3 x 2
    history = [100.0]
    for change in (0.01, -0.02, 0.03, -0.04):
        history.append(history[-1] * (1 + change))
    assert significance_threshold(np.array(history)) == pytest.approx(0.095)
    assert RustcPerf().calls_slower(cell([109.6], [100.0], history))
    assert not RustcPerf().calls_slower(cell([109.4], [100.0], history))
    assert not RustcPerf().calls_slower(cell([80.0], [100.0], history))


def test_rustc_perf_leaves_the_middle_of_an_odd_number_of_changes_out() -> None:
    history = [100.0]
    for change in (0.01, 0.02, 0.03):
        history.append(history[-1] * (1 + change))
    assert significance_threshold(np.array(history)) == pytest.approx(0.03 + 3 * 0.02)


@pytest.mark.parametrize("seed", range(5))
def test_the_rank_test_is_scipys(seed: int) -> None:
    dice = np.random.default_rng(seed)
    one, other = dice.integers(0, 30, 40).astype(float), dice.integers(2, 32, 25).astype(float)
    assert p_value(one, other) == pytest.approx(mannwhitneyu(one, other, method="asymptotic").pvalue)


def test_the_rank_test_calls_only_upwards_and_by_its_level() -> None:
    shifted = [value + 4.2 for value in STEADY]
    assert 0.001 < p_value(np.array(shifted), np.array(STEADY)) < 0.05
    assert MannWhitney(0.05).calls_slower(cell(shifted, STEADY))
    assert not MannWhitney(0.001).calls_slower(cell(shifted, STEADY))
    assert not MannWhitney(0.05).calls_slower(cell(STEADY, shifted))
    assert p_value(np.ones(5), np.ones(5)) == 1.0


def test_drawn_samples_keep_the_centre_the_spread_and_the_count() -> None:
    process = Process(np.array([20e-6, 21e-6]), np.array([5e-7, 0.0]), np.array([4000, 3]))
    found = sampled(process, np.random.default_rng(1))
    assert len(found) == 4003
    assert found[:4000].mean() == pytest.approx(20e-6, rel=1e-9)
    assert found[:4000].std() == pytest.approx(5e-7, rel=0.05)
    assert found[4000:] == pytest.approx([21e-6] * 3)


def test_a_run_is_made_of_whole_recorded_rounds_with_new_coins(tmp_path: Path) -> None:
    recorded = recording(aa(tmp_path))
    run = drawn(recorded, np.random.default_rng(3), 30)
    assert len({each.key for each in run.cells}) == len(run.cells) == CELLS
    rounds = {key: [round(each.replicates[key].log_ratio, 12) for each in recorded.rounds] for key in ("k20", "k80")}
    by_key = {each.key: [one.log_ratio for one in each.compared.replicates] for each in run.cells}
    signs = set()
    for k20, k80 in zip(by_key["k20"], by_key["k80"], strict=True):
        sign = 1 if round(k20, 12) in rounds["k20"] else -1
        at = rounds["k20"].index(round(sign * k20, 12))
        assert rounds["k80"][at] == round(sign * k80, 12)
        signs.add(sign)
    assert signs == {1, -1}
    assert by_key["k20"] != by_key["k20 (2)"]
    # the first pair is the same one, on the same sides, for rules that look at blocks
    first = by_key["k20"][0]
    sign = 1 if round(first, 12) in rounds["k20"] else -1
    pair = recorded.rounds[rounds["k20"].index(round(sign * first, 12))].pairs["k20"][::sign]
    assert (run.cells[0].heads[0] == pair[0].centres_s).all()
    assert (run.cells[0].bases[0] == pair[1].centres_s).all()


def test_the_same_seed_gives_the_same_run(tmp_path: Path) -> None:
    recorded = recording(aa(tmp_path))
    one, same, other = (drawn(recorded, np.random.default_rng(seed), 6) for seed in (1, 1, 2))
    assert (one.cells[0].head_samples_s == same.cells[0].head_samples_s).all()
    assert one.cells[0].compared == same.cells[0].compared != other.cells[0].compared


def test_planting_makes_heads_slower_and_nothing_else(tmp_path: Path) -> None:
    run = drawn(recording(aa(tmp_path)), np.random.default_rng(1), 6)
    slower = planted(run, 0.02)
    for was, now in zip(run.cells, slower.cells, strict=True):
        assert now.head_samples_s == pytest.approx(was.head_samples_s * 1.02)
        assert now.heads[1] == pytest.approx(was.heads[1] * 1.02)
        assert now.bases is was.bases
        assert now.base_samples_s is was.base_samples_s
        shifts = [
            b.log_ratio - a.log_ratio for a, b in zip(was.compared.replicates, now.compared.replicates, strict=True)
        ]
        assert shifts == pytest.approx([math.log(1.02)] * 6)
    assert slower.null == run.null


def test_solwatch_stops_when_all_is_decided_and_confirms_what_it_suspects(tmp_path: Path) -> None:
    recorded = recording(aa(tmp_path))
    gate = TwoStage.from_config(Config())
    run = drawn(recorded, np.random.default_rng(1), gate.most_rounds)
    calm = SolwatchGate(gate).rule(run)
    assert calm.slower == set()
    assert gate.looks[0] <= len(calm.open_cells) <= gate.looks[-1]
    one = planted(run, 0.05)
    mixed = Run(recorded, [one.cells[0], *run.cells[1:]], run.null)
    found = SolwatchGate(gate).rule(mixed)
    assert found.slower == {run.cells[0].key}
    assert len(found.open_cells) > gate.looks[0]
    assert found.open_cells[0] == CELLS
    assert found.open_cells[-1] == 1


def test_a_ruling_costs_an_opening_a_round_and_a_share_a_cell() -> None:
    recorded = Recording("x", ["a", "b"], {}, [], wall_s=2.5, opening_s=0.5)
    assert Ruling(set(), [4, 1]).seconds(recorded) == pytest.approx(2 * 0.5 + 5 * 1.0)


def test_scores_count_alarms_red_runs_and_what_was_called(tmp_path: Path) -> None:
    recorded = recordings([aa(tmp_path)])
    never, always = (
        scores([judge], recorded, runs=3, rounds=2, seed=1)[0] for judge in (ActionRatio(2.0), ActionRatio(0.5))
    )
    assert (never.alarms_per_run, never.red, never.called_share(0.05)) == (0, 0, 0)
    assert (always.alarms_per_run, always.red, always.called_share(0.01)) == (CELLS, 3, 1)
    assert always.red_at_most == 1
    assert never.red_at_most == pytest.approx(1 - 0.05 ** (1 / 3))
    assert always.seconds_per_run == pytest.approx(Ruling(set(), [CELLS]).seconds(recorded[0]))


def test_only_files_of_one_build_against_itself_are_taken(tmp_path: Path) -> None:
    neutral, noise = aa(tmp_path, label="neutral: comment"), aa(tmp_path)
    assert [each.name for each in recordings([neutral, noise])] == [noise.name]
    with pytest.raises(RequestError, match="0 of 1 corpus files are labelled a/a"):
        recordings([neutral])
    with pytest.raises(RequestError, match="19 rounds have all of 2 cells on both sides, 20 are needed"):
        recording(aa(tmp_path, rounds=19))


def judged(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "judges", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(TOOLS)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.slow
def test_the_command_prints_the_table_and_writes_the_same_as_json(tmp_path: Path) -> None:
    output = tmp_path / "new" / "judges.json"
    done = judged(aa(tmp_path), "--runs", 2, "--output", output)
    assert done.returncode == 0, done.stderr
    document = json.loads(output.read_text())
    assert (document["runs"], document["cells"], len(document["rules"])) == (2, CELLS, 11)
    for rule in document["rules"]:
        assert rule["rule"] in done.stdout
    assert document["rules"][-1]["called_slower"]["0.05"]["share"] == 1
    missing = judged(tmp_path / "none.jsonl")
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)
    none = judged("--runs", 0)
    assert (none.returncode, none.stderr.count("\n")) == (2, 1)
