"""asv's own commands on a scratch project, with nothing set up but the plugin: slow, and the real thing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.scratch_project import ScratchProject

BENCHMARKS = """
import os
import pathlib

import tinyop


class Op:
    params = [[1], ["llama", "<b>gpt</b>"]]
    param_names = ["tokens", "layer"]

    def track_sol_gap(self, tokens, layer):
        return {"samples": [float(tinyop.answer())] * 5, "number": 1}

    track_sol_gap.type = "time"
    track_sol_gap.unit = "T/T_SOL"


def track_answer():
    return tinyop.answer()


def track_environment():
    assert "SECRET_TOKEN" not in os.environ
    assert "wheels" in pathlib.Path(tinyop.__file__).parts
    return 1
"""

CONFIGURATION = {
    "version": 1,
    "project": "tinyop",
    "repo": ".",
    "branches": ["HEAD"],
    "plugins": [".solwatch.asv_plugin"],
    "environment_type": "solwatch",
    "benchmark_dir": "benchmarks",
    "env_dir": "build/asv/env",
    "results_dir": "build/asv/results",
    "html_dir": "build/asv/html",
    "launch_method": "spawn",
}


class Asv:
    """Runs asv in a project, in a home that knows nothing of asv."""

    def __init__(self, project: ScratchProject, home: Path) -> None:
        self.project = project
        self.home = home

    def __call__(self, *arguments: str, code: int = 0) -> str:
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "SECRET_TOKEN": "hunter2",
            "PYTHONPATH": "/nowhere",
        }
        result = subprocess.run(
            [sys.executable, "-m", "asv", *arguments],
            cwd=self.project.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        assert result.returncode == code, result.stdout
        return result.stdout

    def values(self, sha: str) -> dict[str, object]:
        """Return what is stored of a commit: name to its list of results."""
        (file,) = (self.project.root / "build/asv/results").glob(f"*/{sha[:8]}-*.json")
        stored = json.loads(file.read_text())
        return {name: row[0] for name, row in stored["results"].items()}


@pytest.fixture
def asv(tmp_path: Path) -> Asv:
    project = ScratchProject(tmp_path / "project")
    project.write("solwatch.toml", 'build_inputs = ["setup.py", "src"]\n')
    project.write("asv.conf.json", json.dumps(CONFIGURATION))
    project.write("benchmarks/__init__.py", "")
    project.write("benchmarks/op.py", BENCHMARKS)
    home = tmp_path / "home"
    home.mkdir()
    return Asv(project, home)


@pytest.mark.slow
def test_every_command_works_on_three_commits(asv: Asv) -> None:
    project = asv.project
    shas = [project.commit("one")]
    project.write("README.md", "changes nothing that is built\n")
    shas.append(project.commit("two"))
    project.answer(3)
    shas.append(project.commit("three"))
    project.git("checkout", "--quiet", "--detach")
    project.git("branch", "--delete", "--force", "trunk")

    asv("run", "--quick", "HEAD~2..HEAD")
    asv("run", "--quick", "--skip-existing-commits", "ALL")
    answers = [asv.values(sha)["op.track_answer"] for sha in shas]
    assert answers == [[1], [1], [3]]
    assert [asv.values(sha)["op.track_environment"] for sha in shas] == [[1]] * 3
    wheels = list((project.root / "build/solwatch/wheels").glob("*/solwatch-build.json"))
    assert len(wheels) == 2, "a commit that changes nothing that is built compiles nothing"
    assert (asv.home / ".asv-machine.json").exists()

    assert re.search(r"\+ +\| 1 +\| 3 ", asv("compare", "HEAD~1", "HEAD"))
    said = asv("continuous", "--quick", "--bench", "track_", "HEAD~1", "HEAD", code=1)
    assert "PERFORMANCE DECREASED" in said
    assert "NOT SIGNIFICANTLY CHANGED" in asv("continuous", "--quick", "--bench", "track_", "HEAD~2", "HEAD~1")
    assert f"Greatest regression found: {shas[2][:8]}" in asv("find", "HEAD~2..HEAD", "op.track_answer")
    assert "op.track_answer" in asv("show", "HEAD")
    asv("publish")
    html = project.root / "build/asv/html"
    (card,) = json.loads((html / "speedoflight.json").read_text())["cards"]
    assert [cell["name"] for cell in card["cells"]] == ["op.Op(1, 'llama')", "op.Op(1, '<b>gpt</b>')"]
    assert card["cells"][0]["scores"] == pytest.approx([1.0, 1.0, 1 / 3], rel=1e-4)
    assert 'href="#/speedoflight"' in (html / "index.html").read_text()


@pytest.mark.slow
def test_a_commit_that_does_not_build_shows_why_and_the_others_go_on(asv: Asv) -> None:
    project = asv.project
    good = project.commit("good")
    project.answer("no_such_name")
    bad = project.commit("bad")
    project.answer(2)
    better = project.commit("good again")
    said = asv("run", "--quick", "--bench", "track_answer", f"{good}..HEAD", code=2)
    assert f"{bad[:8]} does not build: exit code 1" in said
    assert "no_such_name" in said
    assert asv.values(better)["op.track_answer"] == [2]
    assert asv.values(bad)["op.track_answer"] is None


@pytest.mark.slow
def test_bad_requests_are_one_line(asv: Asv) -> None:
    project = asv.project
    project.commit("one")
    project.write("solwatch.toml", "min_efect = 1\n")
    said = asv("run", "--quick", "HEAD^!", code=1)
    assert "unknown setting 'min_efect' in solwatch.toml" in said
    assert "Traceback" not in said
    (asv.home / ".asv-machine.json").write_text("{half")
    said = asv("run", "--quick", "HEAD^!", code=1)
    assert "can't be read as JSON" in said
    assert "Traceback" not in said
