"""The recorded rounds of a GPU, drawn anew: no false alarm, hardly a suspect, and slowdowns found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.corpora import corpus, write
from fakes.records import FakeCell

from replays.drawing import replay
from replays.recorded import stretches
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config
from solwatch.model.verdict import Verdict

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "judge_replay.py"
CORPUS = Path(__file__).parent.parent / "corpus" / "2026-11-30-aa.jsonl"
RULE = TwoStage.from_config(Config())


def caught(verdicts: list[Verdict]) -> float:
    return sum(each is Verdict.SLOWER for each in verdicts) / len(verdicts)


def test_runs_of_one_build_against_itself_have_no_alarm_and_hardly_a_suspect() -> None:
    found = replay(stretches([CORPUS], Config()), RULE, runs=400, planted=0.0, seed="2")
    assert found.alarm_runs == 0
    assert found.suspects <= 0.02 * 400
    assert sum(found.rounds) / len(found.rounds) < RULE.looks[-1]


def test_slowdowns_are_found() -> None:
    cells = stretches([CORPUS], Config())
    one, two = (replay(cells, RULE, runs=100, planted=planted, seed="2") for planted in (0.01, 0.02))
    for key, verdicts in one.verdicts.items():
        # One cell scatters by 0.45 % from round to round; all others by a third of a per cent at most.
        least = 0.75 if key == "o_proj.OProj(64, 'llama-3-8b')" else 0.98
        assert key == NULL_KERNEL or caught(verdicts) >= least, key
    assert all(caught(verdicts) >= 0.99 for key, verdicts in two.verdicts.items() if key != NULL_KERNEL)


def test_half_a_per_cent_is_found_where_it_is_asked_for() -> None:
    config = Config(min_effect=0.005)
    found = replay(stretches([CORPUS], config), RULE, runs=50, planted=0.005, seed="2")
    long = [key for key in found.verdicts if key != NULL_KERNEL and "1024" in key]
    assert len(long) == 2
    assert all(caught(found.verdicts[key]) >= 0.9 for key in long)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_it_prints_what_it_rests_on_and_what_came_of_it(tmp_path: Path) -> None:
    output = tmp_path / "replay.json"
    shown = run(
        str(CORPUS), "--runs", "20", "--planted-runs", "5", "--resamples", "2", "--sizes", "0.02",
        "--output", str(output),
    )  # fmt: skip
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "conditional on this corpus: 2026-11-30-aa.jsonl (80 rounds of 12 cells)" in shown.stdout
    assert "resampled runs with a false alarm: 0 of 20, at most " in shown.stdout
    assert "16 blocks of 5 consecutive rounds: 1 of 3 occasions; 2 resamples of 10 runs" in shown.stdout
    assert "suspects of a disjoint run: 0 in 6 runs: at most 0.499 a run by counting alone" in shown.stdout
    assert "live A/A gates: " in shown.stdout
    assert "100.00 %, 0.00 %" in shown.stdout
    document = json.loads(output.read_text())
    assert list(document["made_from"]["files"]) == [CORPUS.name]
    assert [name for name, _ in document["noise"]] == [
        line.split(": ")[0] for line in shown.stdout.splitlines()[1 : 1 + len(document["noise"])]
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{short}"], "replay: {short} has 19 rounds, wanted 20 to draw from: record more\n"),
        (["{neutral}"], "replay: 0 of 1 corpus files are labelled a/a, 1 is needed: record one with solwatch record\n"),
        (["--runs", "0"], "replay: --runs, --planted-runs and --resamples must be 1 or more\n"),
        (["--sizes", "7"], "replay: --sizes 7.0: they are fractions, 0.01 is 1 %\n"),
    ],
)
def test_what_can_not_be_replayed_is_refused_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    files = {
        "short": str(write(tmp_path / "short.jsonl", corpus([FakeCell(key="a")], label="a/a", rounds=19))),
        "neutral": str(write(tmp_path / "n.jsonl", corpus([FakeCell(key="a")], label="neutral: x", rounds=20))),
    }
    shown = run(*(each.format(**files) for each in arguments))
    assert (shown.returncode, shown.stderr) == (2, said.format(**files))
