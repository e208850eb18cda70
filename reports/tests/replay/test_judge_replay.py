"""The recorded rounds of a GPU, drawn anew: no false alarm, hardly a suspect, and slowdowns found."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from fakes.corpora import corpus, write
from fakes.records import FakeCell

from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config
from solwatch.model.verdict import Verdict

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "judge_replay.py"
CORPUS = Path(__file__).parent.parent / "corpus" / "2026-11-30-aa.jsonl"
RULE = TwoStage.from_config(Config())


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("judge_replay", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["judge_replay"] = module
    spec.loader.exec_module(module)
    return module


def caught(verdicts: list[Verdict]) -> float:
    return sum(each is Verdict.SLOWER for each in verdicts) / len(verdicts)


def test_runs_of_one_build_against_itself_have_no_alarm_and_hardly_a_suspect(script: ModuleType) -> None:
    found = script.replay(script.recorded_cells(CORPUS, Config()), RULE, runs=400, planted=0.0, seed=2)
    assert found.alarm_runs == 0
    assert found.suspects <= 0.02 * 400
    assert sum(found.rounds) / len(found.rounds) < RULE.looks[-1]


def test_slowdowns_are_found(script: ModuleType) -> None:
    cells = script.recorded_cells(CORPUS, Config())
    one, two = (script.replay(cells, RULE, runs=100, planted=planted, seed=2) for planted in (0.01, 0.02))
    for key, verdicts in one.verdicts.items():
        # One cell scatters by 0.45 % from round to round; all others by a third of a per cent at most.
        least = 0.75 if key == "o_proj.OProj(64, 'llama-3-8b')" else 0.98
        assert key == script.NULL_KERNEL or caught(verdicts) >= least, key
    assert all(caught(verdicts) >= 0.99 for key, verdicts in two.verdicts.items() if key != script.NULL_KERNEL)


def test_half_a_per_cent_is_found_where_it_is_asked_for(script: ModuleType) -> None:
    config = Config(min_effect=0.005)
    found = script.replay(script.recorded_cells(CORPUS, config), RULE, runs=50, planted=0.005, seed=2)
    long = [key for key in found.verdicts if key != script.NULL_KERNEL and "1024" in key]
    assert len(long) == 2
    assert all(caught(found.verdicts[key]) >= 0.9 for key in long)


def test_the_bound_of_a_share(script: ModuleType) -> None:
    # Without a case it is 1 - 0.05^(1/n), about 3 / n.
    assert script.upper_share(0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000))
    assert script.upper_share(1000, 1000) == 1.0


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_it_prints_what_it_rests_on_and_what_came_of_it() -> None:
    shown = run(str(CORPUS), "--runs", "20", "--planted-runs", "5", "--sizes", "0.02")
    assert shown.returncode == 0
    assert shown.stdout.startswith("conditional on 2026-11-30-aa.jsonl; ")
    assert "20 runs of 24 cells without a slowdown: 0 false alarms" in shown.stdout
    assert "suspects per run: " in shown.stdout
    assert "100.00 %, 0.00 %" in shown.stdout


def test_too_few_rounds_are_refused_in_one_line(tmp_path: Path) -> None:
    short = write(tmp_path / "short.jsonl", corpus([FakeCell(key="a")], label="a/a", rounds=19))
    shown = run(str(short))
    assert shown.returncode == 2
    assert shown.stderr == f"replay: {short} has 19 rounds, wanted 20 to draw from: record more\n"
