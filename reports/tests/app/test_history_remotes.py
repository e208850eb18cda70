"""Remotes as they are: out of reach, closed, protected, shallow, with settings of their own."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from fakes.histories import BRANCH, CELL, OTHER, commits, contents, git, history, on_branch, project, results_of, save

from solwatch.app.history import MOST_ATTEMPTS, pull, push
from solwatch.model.errors import MachineError, RequestError
from solwatch.workspace.git import Repository


@pytest.mark.parametrize("address", ["/nowhere/origin.git", "http://user:secret@127.0.0.1:9/origin.git"])
def test_a_remote_out_of_reach_is_one_line(clone: Path, address: str) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    git(clone, "remote", "set-url", "origin", address)
    for command in (push, pull):
        with pytest.raises(MachineError, match=r"origin can't be reached \(") as raised:
            command(history(clone))
        assert "\n" not in str(raised.value)
        assert "secret" not in str(raised.value)


def test_a_remote_that_lets_nobody_write_is_one_line(clone: Path, origin: Path) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    refuse = clone / ".git" / "refuse"
    refuse.write_text("#!/bin/sh\necho 'ERROR: Write access to repository not granted.' >&2\nexit 1\n")
    refuse.chmod(0o755)
    git(clone, "config", "remote.origin.receivepack", str(refuse))
    with pytest.raises(MachineError, match=r"Write access to repository not granted") as raised:
        push(history(clone))
    assert "\n" not in str(raised.value)


def test_a_protected_branch_is_one_line_and_not_tried_again(clone: Path, origin: Path) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    hook = origin / "hooks" / "update"
    hook.write_text("#!/bin/sh\necho 'GH006: Protected branch update failed' >&2\nexit 1\n")
    hook.chmod(0o755)
    waits: list[float] = []
    with pytest.raises(
        MachineError, match=r"origin refuses the push to asv-results .*GH006: Protected branch"
    ) as raised:
        push(history(clone, pause=waits.append))
    assert "\n" not in str(raised.value)
    assert waits == []


@pytest.mark.parametrize("branch", ["-x", "a..b", "a b", ""])
def test_a_name_that_no_branch_can_have_is_refused(clone: Path, branch: str) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    with pytest.raises(RequestError, match="is not the name of a branch"):
        push(history(clone, branch=branch))


def test_an_unknown_remote_is_refused_by_the_nearest_name(clone: Path) -> None:
    git(clone, "remote", "rename", "origin", "orign")
    with pytest.raises(RequestError, match="no remote 'origin': the nearest known one is 'orign'"):
        pull(history(clone))


def test_a_shallow_clone_with_a_detached_head_pushes_and_stays_shallow(tmp_path: Path, origin: Path) -> None:
    full = project(tmp_path / "full", origin, subjects=["one", "two", "three"])
    git(full, "push", "-q", "origin", "main")
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", "-b", "main", f"file://{origin}", str(shallow)], check=True)
    git(shallow, "checkout", "-q", "--detach")
    for path in (full, shallow):
        save(results_of(path), "ab"[path is full] * 40, {CELL: [1.0]})
    push(history(shallow))
    push(history(full))
    assert pull(history(shallow)).files == 1
    assert git(shallow, "rev-list", "--count", "--all") == "1"
    assert not (full / ".git" / "shallow").exists()
    assert commits(origin) == 2


def test_files_are_only_fetched_when_they_differ_where_the_remote_can_do_that(clone: Path, origin: Path) -> None:
    for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git(origin, "config", name, "true")
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    push(history(clone))
    save(results_of(clone), "b" * 40, {CELL: [1.0]})
    save(results_of(clone), "a" * 40, {OTHER: [1.0]})
    moved = push(history(clone))
    assert moved.files == 3
    assert on_branch(origin) == contents(results_of(clone))


def test_how_the_clone_reaches_its_remote_holds_here_too(clone: Path, origin: Path, tmp_path: Path) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    git(clone, "remote", "set-url", "origin", "short:origin.git")
    included = tmp_path / "credentials"
    included.write_text(f'[url "{tmp_path}/"]\n\tinsteadOf = "short:"\n')
    git(clone, "config", f"includeIf.gitdir:{clone}/.git.path", str(included))
    assert push(history(clone)).files == 3
    assert BRANCH in git(origin, "branch")


@pytest.mark.parametrize(
    ("said", "attempts"), [("cannot lock ref", MOST_ATTEMPTS), ("Permission denied", 0), ("blocked by a rule", 0)]
)
def test_only_a_refusal_that_can_pass_is_tried_again(
    clone: Path, origin: Path, monkeypatch: pytest.MonkeyPatch, said: str, attempts: int
) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    real = Repository.run

    def refused(repository: Repository, *arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
        if arguments[0] != "push":
            return real(repository, *arguments, **options)
        why = "hook declined" if "rule" in said else "failed to update ref"
        line = f"!\tx:refs/heads/{BRANCH}\t[remote rejected] ({why})\n"
        return subprocess.CompletedProcess([], 1, stdout=line.encode(), stderr=f"remote: error: {said}\n".encode())

    monkeypatch.setattr(Repository, "run", refused)
    waits: list[float] = []
    with pytest.raises(MachineError, match="moved by others" if attempts else said):
        push(history(clone, pause=waits.append))
    assert len(waits) == attempts
