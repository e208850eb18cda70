"""``ci plan`` on a terminal and in a step."""

import json
from pathlib import Path

import pytest
from fakes.scratch_project import ScratchProject

from solwatch.cli.main import outcome


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScratchProject:
    for name in ("GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    made = ScratchProject(tmp_path / "project")
    made.commit("first")
    made.write("setup.py", "# changed\n")
    made.commit("second")
    monkeypatch.chdir(made.root)
    return made


def test_two_commits_on_a_terminal(project: ScratchProject, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["ci", "plan", "HEAD~1"]) == 0
    base, head = (project.git("rev-parse", name) for name in ("HEAD~1", "HEAD"))
    said = f"needed: files changed: 1 in the build inputs\nbase: {base}\nhead: {head}\n"
    assert capsys.readouterr() == (said, "")


def test_an_event_in_a_step(project: ScratchProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base, head = (project.git("rev-parse", name) for name in ("HEAD~1", "HEAD"))
    (tmp_path / "event.json").write_text(json.dumps({"before": base, "after": head}))
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    assert outcome(["ci", "plan", "--github", "--output", str(tmp_path / "plan.json")]) == 0
    reason = "files changed: 1 in the build inputs"
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    whole = json.loads(outputs.pop("plan"))
    assert outputs == {"base": base, "head": head, "needed": "true", "reason": reason}
    wanted = {"schema": 1, "event": "push", "base": base, "head": head, "needed": True, "reason": reason}
    assert whole == json.loads((tmp_path / "plan.json").read_text()) == wanted


def test_the_pinned_reference(
    project: ScratchProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    first = project.git("rev-parse", "HEAD~1")
    asked = ["ci", "plan", "--reference"]
    assert outcome(asked) == 0
    assert capsys.readouterr().out.startswith("not needed: no reference is pinned")
    (project.root / "solwatch.toml").write_text('reference = "HEAD~1"\n')
    assert outcome(asked) == 0
    assert f"base: {first}" in capsys.readouterr().out
    (project.root / "solwatch.toml").write_text('reference = "HEAD"\n')
    assert outcome(asked) == 0
    assert capsys.readouterr().out.startswith("not needed: HEAD is the reference itself")
    (project.root / "solwatch.toml").write_text('reference = "last-release"\n')
    assert outcome(asked) == 2
    assert "there is no release before HEAD" in capsys.readouterr().err
    assert outcome([*asked, "HEAD~1"]) == 2


def test_another_folder_of_the_suite(project: ScratchProject, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("perf/suite.py", "")
    project.commit("a suite elsewhere")
    assert outcome(["ci", "plan", "HEAD~1"]) == 0
    assert capsys.readouterr().out.startswith("not needed")
    assert outcome(["ci", "plan", "HEAD~1", "--suite", "perf"]) == 0
    assert capsys.readouterr().out.startswith("needed: files changed: 1 in the suite")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give BASE, or the event that asks"),
        (["no-such"], "unknown commit 'no-such'"),
        (["--event", "push", "--event-file", "absent.json"], "absent.json can't be read"),
        (["--event", "issues"], "event 'issues' is not known"),
        (["HEAD~1", "--github"], "$GITHUB_OUTPUT is not set"),
    ],
)
def test_a_mistake_is_one_line_and_2(
    project: ScratchProject, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert outcome(["ci", "plan", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert said in err
