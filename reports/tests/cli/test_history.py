"""``solwatch history``: exit codes, what is said, files that are written."""

import json
import math
from pathlib import Path

import pytest
from fakes.histories import LLAMA, bare, git, project, save, save_levels
from fakes.records import FakeCell, commit, record

from solwatch.cli.main import outcome
from solwatch.workspace.records import RecordWriter

LEVELS = [*[10e-6] * 6, math.nan, *[10.5e-6] * 6]


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return bare(tmp_path / "origin.git")


@pytest.fixture
def clone(tmp_path: Path, origin: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = project(tmp_path / "clone", origin, [f"change {index}" for index in range(len(LEVELS))])
    monkeypatch.chdir(path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = outcome(["history", *arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["push"], 4, "has no results to push"),
        (["push", "--remote", "nowhere"], 4, "has no results to push"),
        (["pull", "--remote", "nowhere"], 2, "no remote 'nowhere': the nearest known one is 'origin'"),
        (["pull", "--branch", "a..b"], 2, "'a..b' is not the name of a branch"),
        (["changes"], 4, "has no result of HEAD or one of its 12 first parents"),
        (["changes", "--since", "nope"], 2, "unknown commit 'nope'"),
        (["changes", "--threshold", "2"], 2, "--threshold"),
        (["issues"], 4, "has no result of HEAD"),
        (["noise"], 2, "give the RECORD"),
        (["noise", "absent.jsonl"], 2, "absent.jsonl"),
    ],
)
def test_a_mistake_is_one_line_and_its_exit_code(
    clone: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (code, "")
    (line,) = err.splitlines()
    assert said in line


def test_results_go_there_and_come_back(
    clone: Path, origin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(capsys, "pull") == (0, "origin has no branch asv-results yet: `solwatch history push` makes it\n", "")
    save(clone / "build" / "asv" / "results", "a" * 40, {("1", "'llama'"): [1.0]})
    code, out, err = run(capsys, "push")
    assert (code, err) == (0, "")
    assert out == f"pushed 3 files to asv-results on origin: {git(origin, 'rev-parse', 'asv-results')[:10]}\n"
    assert run(capsys, "push") == (0, "asv-results on origin has all of it already: nothing was pushed\n", "")
    monkeypatch.chdir(project(tmp_path / "fresh", origin))
    assert run(capsys, "pull") == (0, "3 files written from asv-results on origin\n", "")
    assert run(capsys, "pull") == (0, "0 files written from asv-results on origin\n", "")


def test_results_of_another_folder_are_pushed_in_place_of_the_settings(
    clone: Path, origin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(clone / "build" / "asv" / "results", "a" * 40, {("1", "'llama'"): [1.0]})
    save(tmp_path / "handed over", "b" * 40, {("1", "'llama'"): [1.0]})
    assert run(capsys, "push", "--results", str(tmp_path / "handed over"))[0] == 0
    names = git(origin, "ls-tree", "-r", "--name-only", "asv-results")
    assert "bbbbbbbb-" in names
    assert "aaaaaaaa-" not in names
    code, _, err = run(capsys, "push", "--results", str(tmp_path / "absent"))
    assert (code, "does not exist" in err) == (2, True)


def test_an_unreachable_remote_is_3(clone: Path, origin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(clone / "build" / "asv" / "results", "a" * 40, {("1", "'llama'"): [1.0]})
    origin.rename(origin.with_suffix(".gone"))
    for command in ("push", "pull"):
        code, out, err = run(capsys, command)
        assert (code, out) == (3, "")
        assert len(err.splitlines()) == 1
        assert "origin can't be reached" in err


def test_a_change_is_told_once_and_its_issue_stays_the_same_one(
    clone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    shas = save_levels(clone, LEVELS)
    code, out, _ = run(capsys, "changes", "--json", "c.json", "--markdown", "c.md", "--mark", "--github")
    assert code == 0
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    (job,) = json.loads(outputs["bisect"])["include"]
    assert (outputs["needed"], job["machine"], job["good"], job["bad"]) == ("true", "runner", shas[5], shas[7])
    first, line, advice = out.splitlines()
    assert first == "1 new change point, 0 reported before, in 12 files of results"
    assert f"slower +5.00 % {shas[5][:10]}..{shas[7][:10]} runner {LLAMA} 10.00 µs → 10.50 µs" in line
    assert advice.startswith(f"→ solwatch bisect {shas[5]} {shas[7]} -b ")
    (change,) = json.loads((clone / "c.json").read_text())["changes"]
    assert [one["subject"] for one in change["suspects"]] == ["change 7", "change 6"]
    assert "`change 7`" in (clone / "c.md").read_text()
    (issue,) = json.loads(run(capsys, "issues")[1])["issues"]
    assert (issue["state"], issue["new"]) == ("open", False)
    save_levels(clone, [10.5e-6 if math.isnan(level) else level for level in LEVELS])
    code, out, _ = run(capsys, "changes", "--github")
    assert (tmp_path / "output").read_text().endswith('bisect={"include":[]}\nneeded=false\n')
    assert (code, out) == (0, "0 new change points, 1 reported before, in 13 files of results\n")
    code, out, _ = run(capsys, "changes", "--all")
    assert f"{shas[5][:10]}..{shas[6][:10]}" in out
    assert "(reported before)" in out
    (later,) = json.loads(run(capsys, "issues")[1])["issues"]
    assert later["marker"] == issue["marker"]
    assert shas[6] in later["body"]


def test_only_changes_after_a_commit_are_told(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shas = save_levels(clone, LEVELS)
    assert len(run(capsys, "changes", "--since", shas[6])[1].splitlines()) == 3
    assert run(capsys, "changes", "--since", shas[7])[1].splitlines()[0].startswith("0 new change points")
    git(clone, "checkout", "-q", "-b", "side", "HEAD~3")
    git(clone, "commit", "-q", "--allow-empty", "-m", "side")
    git(clone, "checkout", "-q", "--detach", "main")
    code, _, err = run(capsys, "changes", "--since", "side")
    assert code == 2
    assert "side is not among HEAD's first parents" in err


def test_reported_changes_and_noise_travel_with_the_results(
    clone: Path, origin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    same = commit("9a7e5eed00", "main", "same")
    made = record([FakeCell(key=LLAMA)], rounds=12, head=same, base=same)
    with RecordWriter.create(clone / "build" / "aa.jsonl", made.header) as writer:
        for completed in made.rounds:
            writer.append(completed)
    code, out, err = run(capsys, "noise", "build/aa.jsonl", "--show")
    assert code == 0
    assert "kept: noise of 2 cells" in err
    assert "gpu-runner-3: NVIDIA H200, GPU-0f1e2d3c" in out
    assert LLAMA in out
    save_levels(clone, LEVELS)
    run(capsys, "changes", "--mark")
    assert run(capsys, "push")[0] == 0
    fresh = tmp_path / "fresh"
    git(tmp_path, "clone", "-q", str(clone), str(fresh))
    git(fresh, "remote", "set-url", "origin", str(origin))
    monkeypatch.chdir(fresh)
    assert run(capsys, "pull")[0] == 0
    assert LLAMA in run(capsys, "noise", "--show")[1]
    assert run(capsys, "changes")[1].startswith("0 new change points, 1 reported before")


def test_a_shallow_clone_says_that_it_is_one(
    clone: Path, origin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git(clone, "push", "-q", "origin", "main")
    git(tmp_path, "clone", "-q", "--depth=1", "-b", "main", f"file://{origin}", str(tmp_path / "shallow"))
    monkeypatch.chdir(tmp_path / "shallow")
    code, _, err = run(capsys, "changes")
    assert code == 4
    assert "of this shallow clone" in err
