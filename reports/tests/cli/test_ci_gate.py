"""``ci gate``: whatever the gate ends with is in the file, and the step goes on."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.fleets import CPU_ENTRY, H200_ENTRY, fleet_file
from fakes.records import FakeCell, record
from fakes.scratch_project import ScratchProject

from solwatch.app.outcome import Kept, Outcome
from solwatch.cli.main import outcome
from solwatch.judge.judging import judge
from solwatch.model.entry_verdict import EntryVerdict
from solwatch.model.errors import HeadBuildError, MachineError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScratchProject:
    made = ScratchProject(tmp_path / "project")
    made.commit("first")
    made.answer(2)
    made.commit("second")
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    monkeypatch.setenv("GITHUB_RUN_ID", "4711")
    monkeypatch.setenv("GITHUB_RUN_ATTEMPT", "3")
    return made


def ends_with(monkeypatch: pytest.MonkeyPatch, end: Any) -> None:
    def compare(request: object, services: object) -> Any:
        if isinstance(end, BaseException):
            raise end
        return end

    monkeypatch.setattr("solwatch.app.gate.compare", compare)


def verdict(project: ScratchProject) -> EntryVerdict:
    return msgspec.json.decode((project.root / "build/verdict.json").read_bytes(), type=EntryVerdict)


def test_a_slowdown_is_recorded_shown_and_does_not_fail_the_step(
    project: ScratchProject, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    taken = record([FakeCell(key="o_proj.OProj(1)", ratio=1.2)])
    kept = Kept(report=Path("index.html"), record=Path("r.jsonl"), warnings=[])
    ends_with(monkeypatch, Outcome(record=taken, judgement=judge(taken), kept=kept))
    assert outcome(["ci", "gate", "HEAD~1", "--entry", "h200", "--trial", "2", "--github"]) == 0
    found = verdict(project)
    assert (found.code, found.entry, found.run, found.attempt, found.trial) == (1, "h200", "4711", 3, 2)
    assert found.head.sha == project.git("rev-parse", "HEAD")
    out, err = capsys.readouterr()
    assert out.startswith("::error title=solwatch%3A slower on NVIDIA H200::o_proj.OProj(1)")
    assert "FAIL  1 of 1 cell slower" in out
    assert "verdict: build/verdict.json: fail (exit code 1)" in err
    assert (tmp_path / "summary").read_text().startswith("### FAIL")


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (
            HeadBuildError("head is at fault: it does not compile\nerror: no"),
            1,
            "head is at fault: it does not compile",
        ),
        (MachineError("torch finds no GPU"), 3, "torch finds no GPU"),
        (ZeroDivisionError("division"), 3, "internal error: ZeroDivisionError: division"),
        (OSError(28, "No space left", "x"), 3, "No space left: x"),
    ],
)
def test_an_error_is_recorded_with_its_code(
    project: ScratchProject,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    code: int,
    text: str,
) -> None:
    ends_with(monkeypatch, error)
    assert outcome(["ci", "gate", "HEAD~1", "--github"]) == 0
    found = verdict(project)
    assert found.code == code
    assert found.text.startswith(text)
    assert found.base.sha == project.git("rev-parse", "HEAD~1")
    assert capsys.readouterr().out.startswith(f"::error title=solwatch%3A {found.word} on gate::{text[:20]}")


def test_an_interrupted_gate_says_so_and_ends_with_130(
    project: ScratchProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends_with(monkeypatch, KeyboardInterrupt())
    assert outcome(["ci", "gate", "HEAD~1"]) == 130
    assert (verdict(project).code, verdict(project).word) == (130, "interrupted")


def test_a_gate_that_is_killed_leaves_an_interrupted_one_never_an_older_verdict(
    project: ScratchProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[EntryVerdict] = []

    def compare(request: object, services: object) -> Any:
        found.append(verdict(project))
        raise KeyboardInterrupt

    monkeypatch.setattr("solwatch.app.gate.compare", compare)
    (project.root / "build").mkdir()
    (project.root / "build/verdict.json").write_text("an older one")
    outcome(["ci", "gate", "HEAD~1"])
    assert (found[0].code, found[0].text) == (130, "the gate has not ended")


@pytest.mark.parametrize(("arguments", "said"), [(["no-such"], "unknown commit"), (["HEAD", "-b", "("], "expression")])
def test_a_request_that_is_wrong_is_recorded_as_2(project: ScratchProject, arguments: list[str], said: str) -> None:
    assert outcome(["ci", "gate", *arguments]) == 0
    assert verdict(project).code == 2
    assert said in verdict(project).text


@pytest.mark.parametrize("entry", ["../x", "-x", "a b", "a\n", "", "x" * 65])
def test_an_entry_is_a_plain_name(project: ScratchProject, entry: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["ci", "gate", "HEAD~1", "--entry", entry]) == 2
    assert "allowed are up to 64 letters" in capsys.readouterr().err
    assert not (project.root / "build").exists()


def test_without_a_place_for_the_verdict_nothing_is_measured(
    project: ScratchProject, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, AssertionError("measured in vain"))
    (project.root / "build").write_text("a file")
    assert outcome(["ci", "gate", "HEAD~1"]) == 2
    assert "can't be written" in capsys.readouterr().err


def test_a_machine_that_is_not_its_entry_is_infrastructure_and_nothing_is_measured(
    project: ScratchProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, AssertionError("measured"))
    monkeypatch.setattr("solwatch.device.cards.visible_cards", lambda: [])
    fleet = str(fleet_file(tmp_path, H200_ENTRY, CPU_ENTRY))
    assert outcome(["ci", "gate", "HEAD~1", "--entry", "h200", "--fleet", fleet, "--github"]) == 0
    found = verdict(project)
    assert (found.code, found.word) == (3, "infrastructure")
    assert found.text.startswith("infrastructure: runner h200 promises 1 × 'NVIDIA H200' and this machine is not that")
    assert capsys.readouterr().out.startswith(
        "::error title=solwatch%3A infrastructure on h200::infrastructure: runner"
    )
    assert outcome(["ci", "gate", "HEAD~1", "--entry", "b200", "--fleet", fleet]) == 0
    assert (verdict(project).code, "no runner is named 'b200'" in verdict(project).text) == (2, True)
    assert outcome(["ci", "gate", "HEAD~1", "--entry", "cpu", "--fleet", fleet]) == 0
    assert verdict(project).text.startswith("internal error: AssertionError: measured")
