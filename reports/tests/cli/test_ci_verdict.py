"""``ci verdict``, ``ci retry`` and ``ci comment``, from files as they arrive."""

import json
import zipfile
from pathlib import Path

import msgspec
import pytest
from fakes.verdicts import BASE, HEAD, PLAN, kept, verdict

from solwatch.cli.main import outcome
from solwatch.model.joint_verdict import JointVerdict
from solwatch.render.joint import MARKER

MATRIX = '{"include":[{"name":"h200","labels":["gpu"]},{"name":"b200"}]}'
PLAN_TEXT = msgspec.json.encode(PLAN).decode()


@pytest.fixture(autouse=True)
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    return tmp_path


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4])
def test_the_final_code_is_the_exit_code(step: Path, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    kept(step / "all", verdict(code=code), verdict("b200"))
    arguments = ["all", "--matrix", MATRIX, "--plan", PLAN_TEXT, "--output", "joint.json", "--github"]
    assert outcome(["ci", "verdict", *arguments]) == code
    joint = msgspec.json.decode((step / "joint.json").read_bytes(), type=JointVerdict)
    assert (joint.code, len(joint.entries)) == (code, 2)
    assert (step / "output").read_text() == f"code={code}\nword={joint.word}\n"
    assert (step / "summary").read_text().startswith("### ")
    out = capsys.readouterr().out
    assert out.startswith("PASS" if code == 0 else f"::error title=solwatch%3A {joint.word}::h200")


@pytest.mark.parametrize(("code", "ends_with"), [(0, 0), (1, 1), (2, 2), (3, 0), (4, 0)])
def test_what_says_nothing_of_the_change_may_pass_and_says_so(
    step: Path, code: int, ends_with: int, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(step / "all", verdict(code=code), verdict("b200"))
    arguments = ["all", "--matrix", MATRIX, "--plan", PLAN_TEXT, "--output", "joint.json", "--github"]
    assert outcome(["ci", "verdict", *arguments, "--unmeasured", "pass"]) == ends_with
    assert msgspec.json.decode((step / "joint.json").read_bytes(), type=JointVerdict).code == code
    assert (step / "output").read_text().startswith(f"code={code}\n")
    said = f"exit code {code} says nothing of the change: it passes unmeasured (--unmeasured=pass)\n"
    assert capsys.readouterr().err == (said if code in (3, 4) else "")


def test_what_was_cancelled_does_not_pass_and_says_so(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept(step / "all", verdict(code=3), verdict("b200"))
    arguments = ["all", "--matrix", MATRIX, "--unmeasured", "pass", "--job", "gate=cancelled", "--job", "again=skipped"]
    assert outcome(["ci", "verdict", *arguments]) == 3
    out, err = capsys.readouterr()
    assert out.startswith("INFRASTRUCTURE: no verdict on this change: ")
    assert "  not trusted: job gate was cancelled, by hand or by its time limit: run it again\n" in out
    assert err == "exit code 3 stands: what was cancelled, left out or can't be trusted is no runner's fault\n"


def test_gates_and_retries_in_several_folders(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept(step / "gates", verdict(code=3), verdict("b200"))
    kept(step / "retries", verdict(code=0, trial=2))
    assert outcome(["ci", "verdict", "gates", "retries", "--entry", "h200", "--entry", "b200"]) == 0
    assert "h200: pass: nothing is slower; measured again on the same machine" in capsys.readouterr().out
    assert not (step / "summary").exists()


def test_when_nothing_arrived_it_is_infrastructure(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["ci", "verdict", "absent", "--matrix", MATRIX, "--plan", PLAN_TEXT]) == 3
    assert capsys.readouterr().out.startswith("INFRASTRUCTURE: no verdict on this change: h200: no verdict arrived")


def test_a_plan_that_needs_nothing_and_builds_that_failed_decide_without_verdicts(step: Path) -> None:
    idle = msgspec.json.encode(msgspec.structs.replace(PLAN, needed=False)).decode()
    assert outcome(["ci", "verdict", "absent", "--matrix", MATRIX, "--plan", idle, "--build-result", "skipped"]) == 0
    for build, code in (("1", 1), ("2", 2), ("3", 3), ("137", 3), ("130", 3), ("failure", 3), ("skipped", 3)):
        assert outcome(["ci", "verdict", "absent", "--matrix", MATRIX, "--build-result", build]) == code
    for build, code in (("3", 0), ("127", 0), ("137", 3), ("130", 3)):  # what a signal ended may have been the change's
        arguments = ["absent", "--matrix", MATRIX, "--build-result", build, "--unmeasured", "pass"]
        assert outcome(["ci", "verdict", *arguments]) == code
    kept(step / "all", verdict(), verdict("b200"))
    for build in ("0", "success"):
        assert outcome(["ci", "verdict", "all", "--matrix", MATRIX, "--build-result", build]) == 0


def test_a_fleet_without_entries_passes_nothing(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept(step / "all", verdict())
    assert outcome(["ci", "verdict", "all", "--matrix", '{"include":[]}', "--plan", PLAN_TEXT]) == 3
    assert "not trusted: the matrix names no entry of the fleet" in capsys.readouterr().out


@pytest.mark.parametrize("plan", ["", "{}", PLAN_TEXT.replace(PLAN.head, "HEAD; id")])
def test_a_plan_that_is_none_is_infrastructure(step: Path, plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    kept(step / "all", verdict())
    assert outcome(["ci", "verdict", "all", "--plan", plan]) == 3
    assert "not trusted: the plan: not" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verdict"], "Missing argument 'FOLDER...'"),
        (["verdict", "a", "--matrix", "x"], "--matrix is not a matrix"),
        (["verdict", "a", "--entry", "a b"], "allowed are up to 64 letters"),
        (["verdict", "a", "--build-result", "slower"], "'slower': allowed are an exit code and success"),
        (
            ["verdict", "a", "--job", "gate=slower"],
            "'gate=slower': allowed is JOB=WORD of gate, again, retry and success",
        ),
        (["verdict", "a", "--job", "plan=success"], "'plan=success': allowed is JOB=WORD"),
        (["retry", "a"], "Missing option '--matrix'"),
        (["comment", "a", "--run-url", "javascript:alert(1)"], "allowed is https://"),
        (["comment", "a", "--run-url", "https://x.example/a b"], "allowed is https://"),
        (["comment", "a", "--run-url", "https://x.example/a\n"], "allowed is https://"),
    ],
)
def test_a_mistake_is_one_line_and_2(
    step: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(["ci", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1


def test_outside_of_a_step_github_is_refused(step: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert outcome(["ci", "verdict", "absent", "--github"]) == 2


def test_the_matrix_of_a_retry_has_what_decided_nothing(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept(step / "all", verdict(code=3), verdict("b200", 1))
    assert outcome(["ci", "retry", "all", "--matrix", MATRIX, "--github"]) == 0
    left = '{"include":[{"name":"h200","labels":["gpu"]}]}'
    assert capsys.readouterr().out == left + "\n"
    assert (step / "output").read_text() == f"matrix={left}\nneeded=true\n"
    kept(step / "good", verdict(), verdict("b200"))
    assert outcome(["ci", "retry", "good", "--matrix", MATRIX, "--github"]) == 0
    assert (step / "output").read_text().endswith('matrix={"include":[]}\nneeded=false\n')


def test_a_comment_comes_from_a_folder_or_an_archive(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept(step / "all", verdict(code=1))
    assert outcome(["ci", "verdict", "all", "--plan", PLAN_TEXT, "--output", "artifact/joint.json"]) == 1
    with zipfile.ZipFile("artifact.zip", "w") as archive:
        archive.write("artifact/joint.json", "joint.json")
    capsys.readouterr()
    shown = []
    for source in ("artifact", "artifact.zip"):
        assert outcome(["ci", "comment", source, "--head", HEAD.sha, "--output", "comment.md"]) == 0
        shown.append(capsys.readouterr().out)
        assert (step / "comment.md").read_text() == shown[-1]
    assert shown[0] == shown[1]
    assert shown[0].startswith(f"{MARKER}\n### FAIL\n")


def test_what_is_not_of_the_commit_is_not_commented_on(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept(step / "all", verdict())
    outcome(["ci", "verdict", "all", "--plan", PLAN_TEXT, "--output", "a/joint.json"])
    outcome(["ci", "verdict", "all", "--output", "b/joint.json"])
    capsys.readouterr()
    for source, of in (("a", HEAD.sha), ("b", "no commit")):
        assert outcome(["ci", "comment", source, "--head", BASE.sha]) == 3
        said = f"solwatch: the verdict is of {of}, not of {BASE.sha}: it is not commented on\n"
        assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("files", [0, 2])
def test_there_must_be_exactly_one(step: Path, files: int, capsys: pytest.CaptureFixture[str]) -> None:
    for index in range(files):
        (step / "a" / str(index)).mkdir(parents=True)
        (step / "a" / str(index) / "joint.json").write_text("{}")
    (step / "a").mkdir(exist_ok=True)
    assert outcome(["ci", "comment", "a"]) == 3
    assert f"holds {files} files named joint.json" in capsys.readouterr().err


def test_what_can_not_be_trusted_is_not_commented_on(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (step / "a").mkdir()
    (step / "a" / "joint.json").write_text(json.dumps({"code": 1, "word": "@octocat", "text": "x"}))
    assert outcome(["ci", "comment", "a"]) == 0, "a joint verdict may be as short as that"
    assert "octocat" not in capsys.readouterr().out
    (step / "a" / "joint.json").write_text('{"code": 1, "pull_request": 7}')
    assert outcome(["ci", "comment", "a"]) == 3
    assert "can't be trusted" in capsys.readouterr().err
