"""Results to and from their branch, between real repositories: nothing lost, nothing doubled."""

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.histories import (
    BRANCH,
    CELL,
    OTHER,
    commits,
    contents,
    git,
    history,
    on_branch,
    project,
    results_of,
    save,
    times,
)

from solwatch.app.history import MOST_ATTEMPTS, pull, push
from solwatch.model.errors import ExitCode, MachineError, NothingMeasuredError
from solwatch.workspace.results_branch import ResultsBranch

SOLWATCH = [sys.executable, "-m", "solwatch.cli.main"]


def test_a_first_push_makes_the_branch_and_another_changes_nothing(clone: Path, origin: Path) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    first = push(history(clone))
    assert (first.files, first.known, first.warnings) == (3, False, [])
    assert git(origin, "rev-parse", BRANCH) == first.commit
    assert on_branch(origin) == contents(results_of(clone))
    again = push(history(clone))
    assert (again.files, again.commit) == (0, None)
    assert commits(origin) == 1


def test_the_clone_is_left_as_it_was(clone: Path, origin: Path, tmp_path: Path) -> None:
    (clone / "staged").write_text("staged")
    git(clone, "add", "staged")
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    hook = clone / ".git" / "hooks" / "pre-push"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    before = contents(clone)
    push(history(clone))
    pull(history(clone))
    assert contents(clone) == before
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_two_machines_measured_of_one_commit_is_together_afterwards(
    clone: Path, origin: Path, tmp_path: Path
) -> None:
    other = project(tmp_path / "other", origin)
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    save(results_of(other), "a" * 40, {OTHER: [2.0]})
    save(results_of(other), "b" * 40, {OTHER: [3.0]}, machine="second")
    push(history(clone))
    push(history(other))
    pull(history(clone))
    assert contents(results_of(clone)) == on_branch(origin)
    (name,) = [name for name in on_branch(origin) if name.startswith("runner/aaaaaaaa")]
    assert sorted(times(on_branch(origin)[name]), key=str) == [1.0, 2.0]
    assert push(history(clone)).commit is None


def test_of_what_both_sides_measured_the_newest_is_kept(clone: Path, origin: Path, tmp_path: Path) -> None:
    other = project(tmp_path / "other", origin)
    save(results_of(other), "a" * 40, {CELL: [1.0], OTHER: [5.0]})
    time.sleep(0.01)
    save(results_of(clone), "a" * 40, {CELL: [2.0]})
    push(history(clone))
    push(history(other))
    (name,) = [name for name in on_branch(origin) if name.startswith("runner/aaaaaaaa")]
    assert times(on_branch(origin)[name]) == [2.0, 5.0]
    pull(history(other))
    assert contents(results_of(other)) == on_branch(origin)


def test_a_push_that_was_overtaken_is_made_anew(
    clone: Path, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = project(tmp_path / "other", origin)
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    save(results_of(other), "b" * 40, {CELL: [1.0]}, machine="second")
    real = ResultsBranch.push
    overtaking = [history(other)]

    def overtaken(branch: ResultsBranch, commit: str) -> bool:
        if overtaking:
            push(overtaking.pop())
        return real(branch, commit)

    monkeypatch.setattr(ResultsBranch, "push", overtaken)
    waits: list[float] = []
    moved = push(history(clone, pause=waits.append))
    assert (moved.attempts, len(waits)) == (2, 1)
    assert commits(origin) == 2
    assert {name.partition("/")[0] for name in on_branch(origin)} == {"benchmarks.json", "runner", "second"}


def test_a_branch_that_never_stands_still_is_given_up(
    clone: Path, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    monkeypatch.setattr(ResultsBranch, "push", lambda self, commit: False)
    waits: list[float] = []
    with pytest.raises(MachineError, match=f"moved by others in each of {MOST_ATTEMPTS} attempts") as raised:
        push(history(clone, pause=waits.append))
    assert raised.value.exit_code is ExitCode.UNTRUSTED
    assert len(waits) == MOST_ATTEMPTS
    assert len(set(waits)) > MOST_ATTEMPTS / 2
    assert 0 <= min(waits) <= max(waits) <= 4


def test_without_results_nothing_is_pushed(clone: Path, origin: Path) -> None:
    for _ in range(2):
        with pytest.raises(NothingMeasuredError, match=r"has no results to push") as raised:
            push(history(clone))
        assert raised.value.exit_code is ExitCode.UNDECIDED
        results_of(clone).mkdir(parents=True, exist_ok=True)
    assert git(origin, "branch") == ""


def test_a_branch_that_is_not_there_yet_brings_nothing(clone: Path) -> None:
    moved = pull(history(clone))
    assert (moved.files, moved.known) == (0, False)
    assert not results_of(clone).exists()


def commands(tmp_path: Path, origin: Path, count: int) -> Iterator[Path]:
    for index in range(count):
        path = project(tmp_path / f"runner-{index}", origin)
        save(results_of(path), f"{index:x}" * 40, {CELL: [1.0 + index]}, machine=f"runner-{index}")
        save(results_of(path), "a" * 40, {(str(index), "'llama'"): [1.0 + index]}, machine="shared")
        yield path


@pytest.mark.slow
def test_ten_pushes_at_once_lose_nothing_and_double_nothing(tmp_path: Path, origin: Path) -> None:
    paths = list(commands(tmp_path, origin, 10))
    running = [
        subprocess.Popen([*SOLWATCH, "history", "push"], cwd=path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for path in paths
    ]
    said = [each.communicate(timeout=300) for each in running]
    assert [each.returncode for each in running] == [0] * 10, said
    files = on_branch(origin)
    assert commits(origin) == 10
    for index, path in enumerate(paths):
        own = {name: content for name, content in contents(results_of(path)).items() if f"runner-{index}" in name}
        assert len(own) == 2
        assert {name: files[name] for name in own} == own
    (shared,) = [content for name, content in files.items() if name.startswith("shared/aaaaaaaa")]
    found = [value for value in times(shared) if value is not None and not math.isnan(value)]
    assert sorted(found) == [1.0 + index for index in range(10)]
    for path in paths:
        assert push(history(path)).commit is None
    git(origin, "fsck", "--strict")


@pytest.mark.slow
def test_a_push_killed_at_any_moment_leaves_the_branch_whole(tmp_path: Path, origin: Path) -> None:
    clone = project(tmp_path / "killed", origin)
    # the far side lives on, as a server does
    git(clone, "config", "remote.origin.receivepack", "setsid --wait git-receive-pack")
    git(clone, "config", "remote.origin.uploadpack", "setsid --wait git-upload-pack")
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    started = time.monotonic()
    subprocess.run([*SOLWATCH, "history", "push"], cwd=clone, check=True, capture_output=True)
    whole_s = time.monotonic() - started
    states = {git(origin, "rev-parse", f"{BRANCH}^{{tree}}")}
    moments = 12
    for moment in range(moments):
        save(results_of(clone), f"{moment + 1:08x}" + "0" * 32, {CELL: [1.0]})
        pushing = subprocess.Popen(
            [*SOLWATCH, "history", "push"], cwd=clone, start_new_session=True, stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(whole_s * (moment + 1) / moments)
        os.killpg(pushing.pid, signal.SIGKILL)
        pushing.wait()
        git(origin, "fsck", "--strict", "--connectivity-only")
        states.add(git(origin, "rev-parse", f"{BRANCH}^{{tree}}"))
    push(history(clone))
    assert on_branch(origin) == contents(results_of(clone))
    assert len(states) < moments, "no push was ended before its end"
    assert git(clone, "status", "--porcelain") == ""
