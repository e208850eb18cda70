"""Malformed files of the history, here and on the branch, through the commands: one clear line, nothing lost."""

from pathlib import Path
from typing import Any

import pytest
from fakes.histories import bare, contents, history, project, save_levels
from fakes.malformed import malformed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solwatch.app.history import BranchFile, pull, push
from solwatch.app.history_changes import found_changes, mark_reported
from solwatch.app.noise import kept_noise
from solwatch.cli.main import outcome
from solwatch.model.errors import ExitCode
from solwatch.model.history import NoiseRow
from solwatch.workspace.results_branch import ResultsBranch
from solwatch.workspace.rows import write_rows

pytestmark = pytest.mark.slow

MANY = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
NAMES = ["benchmarks.json", "runner/machine.json", "result", "noise.jsonl", "changes.jsonl"]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with a history that has everything, pushed."""
    path = project(tmp_path / "clone", bare(tmp_path / "origin.git"), [f"change {index}" for index in range(10)])
    monkeypatch.chdir(path)
    monkeypatch.setenv("HOME", str(tmp_path))
    save_levels(path, [10e-6] * 5 + [11e-6] * 5)
    row = NoiseRow(taken_at="2026", machine="m", card="c", model="x", cell="a", rounds=9, spread=0.01, null_s=3e-6)
    (path / "build" / "asv" / "results" / "noise.jsonl").write_bytes(write_rows([row]))
    mark_reported(history(path), found_changes(history(path), since=None, least_change=0.02).changes)
    push(history(path))
    return path


@pytest.mark.parametrize("name", NAMES)
@MANY
@given(data=st.data())
def test_what_reads_results_ends_in_one_line(
    clone: Path, capsys: pytest.CaptureFixture[str], name: str, data: Any
) -> None:
    folder = clone / "build" / "asv" / "results"
    path = folder / name if name != "result" else min((folder / "runner").glob("[0-9a-f]*-*.json"))
    whole = path.read_bytes()
    content = data.draw(malformed(whole, lines=name.endswith("jsonl")))
    path.write_bytes(content)
    try:
        for arguments in (["changes", "--all"], ["issues"], ["noise", "--show"]):
            capsys.readouterr()
            code = outcome(["history", *arguments])
            said = capsys.readouterr().err
            assert "internal error" not in said, said
            assert code in (ExitCode.OK, ExitCode.USAGE, ExitCode.UNTRUSTED, ExitCode.UNDECIDED)
            assert path.read_bytes() == content
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("name", NAMES)
@MANY
@given(data=st.data())
def test_what_lies_on_the_branch_changes_nothing_else_here(
    clone: Path, name: str, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = clone / "build" / "asv" / "results"
    before = contents(folder)
    path = folder / name if name != "result" else min((folder / "runner").glob("[0-9a-f]*-*.json"))
    content = data.draw(malformed(path.read_bytes(), lines=name.endswith("jsonl")))
    at = path.relative_to(folder).as_posix()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ResultsBranch, "fetch", lambda self, contents: True)
        patched.setattr(ResultsBranch, "files", lambda self: {at: BranchFile("100644", "0" * 40)})
        patched.setattr(ResultsBranch, "read", lambda self, files: ((each, content) for each in files))
        moved = pull(history(clone))
    after = contents(folder)
    assert len(moved.warnings) <= 1
    assert {other: after[other] for other in after if other != at} == {o: before[o] for o in before if o != at}
    if moved.warnings:
        assert after == before
    kept_noise(folder)
    assert found_changes(history(clone), since=None, least_change=0.02).files >= 9
    path.write_bytes(before[at])
