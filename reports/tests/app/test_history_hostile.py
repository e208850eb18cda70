"""What anybody can put on the branch: it is left alone, and nothing is written outside of the folder of results."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from fakes.histories import (
    BRANCH,
    CELL,
    contents,
    git,
    history,
    on_branch,
    project,
    results_of,
    save,
)

from solwatch.app.history import pull, push
from solwatch.model.errors import MachineError, NothingMeasuredError, RequestError

MACHINE_JSON = b'{"version": 1, "machine": "runner"}'


HOSTILE = {
    "../outside.json": b"{}",
    "README.md": b"by hand",
    "runner/notes.json": b"{}",
    "deep/er/aaaaaaaa-x.json": b"{}",
    ".github/workflows/x.yml": b"on: push",
    "runner/bbbbbbbb-broken.json": b"{",
    "runner/cccccccc-schema.json": b'{"version": 99}',
    "runner/dddddddd-nested.json": b"[" * 100_000,
    "runner/eeeeeeee-cells.json": json.dumps(
        {
            "version": 2, "commit_hash": "e" * 40, "env_name": "x", "date": 1, "python": "3", "requirements": {},
            "params": {"machine": "runner"}, "result_columns": ["result", "params"],
            "results": {"b": [[1.0], [[str(index) for index in range(10_000)]] * 5]},
        }
    ).encode(),
    "other/machine.json": b'{"version": 1, "machine": "runner"}',
    "third/machine.json": b'{"version": 1, "machine": ["third"]}',
    "noise.jsonl": b"not a row\n",
    "changes.jsonl": b'{"id": "--><b>", "machine": "m", "direction": "slower", "good": "", "bad": "", "cells": [], '
    b'"reported_at": ""}\n',
}  # fmt: skip


def put_on_branch(tmp_path: Path, origin: Path, files: dict[str, bytes], links: dict[str, str] | None = None) -> None:
    """Add files to the branch as anybody with write access could."""
    work = tmp_path / "by-hand"
    shutil.rmtree(work, ignore_errors=True)
    subprocess.run(["git", "init", "-q", "-b", BRANCH, str(work)], check=True)
    if git(origin, "branch", "--list", BRANCH):
        git(work, "pull", "-q", str(origin), BRANCH)
    for name, content in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(content)
    for name, target in (links or {}).items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).symlink_to(target)
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "by hand")
    git(work, "push", "-q", str(origin), f"HEAD:refs/heads/{BRANCH}")


def tree_with(origin: Path, path: bytes, content: bytes) -> None:
    """Commit a file under a name that git's own commands refuse to make."""

    def made(kind: str, data: bytes) -> str:
        return subprocess.run(
            ["git", "-C", str(origin), "hash-object", "-w", "--literally", "-t", kind, "--stdin"],
            input=data, check=True, capture_output=True, text=False,
        ).stdout.decode().strip()  # fmt: skip

    sha = made("blob", content)
    mode = b"100644"
    for part in reversed(path.split(b"/")):
        sha = made("tree", mode + b" " + part + b"\0" + bytes.fromhex(sha))
        mode = b"40000"
    commit = git(origin, "commit-tree", sha, "-m", "hostile")
    git(origin, "update-ref", f"refs/heads/{BRANCH}", commit)


def test_what_is_hostile_or_broken_on_the_branch_is_left_alone(clone: Path, origin: Path, tmp_path: Path) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    push(history(clone))
    whole = on_branch(origin)
    hostile = {name: content for name, content in HOSTILE.items() if not name.startswith("..")}
    links = {"runner/ffffffff-link.json": "/etc/passwd", "linked": "/tmp"}
    put_on_branch(tmp_path, origin, hostile, links)
    fresh = project(tmp_path / "fresh", origin)
    moved = pull(history(fresh))
    assert contents(results_of(fresh)) == whole
    assert all("\n" not in warning for warning in moved.warnings)
    said = "\n".join(moved.warnings)
    for name in (
        "bbbbbbbb-broken",
        "cccccccc-schema",
        "dddddddd-nested",
        "eeeeeeee-cells",
        "other/machine",
        "third/",
        "noise.jsonl",
        "changes.jsonl",
    ):
        assert sum(name in warning for warning in moved.warnings) == 1, said
    assert "not results, left alone on asv-results: .github/workflows/x.yml, README.md, deep/er" in said
    save(results_of(clone), "b" * 40, {CELL: [1.0]})
    push(history(clone))
    after = on_branch(origin)
    assert {name: after[name] for name in hostile} == hostile


@pytest.mark.parametrize(
    "path",
    [b"../aaaaaaaa-x.json", b"..", b".git/aaaaaaaa-x.json", b"runner/..", b"a\nb/machine.json", b"./machine.json"],
)
def test_a_name_that_leads_out_is_never_written(clone: Path, origin: Path, path: bytes) -> None:
    tree_with(origin, path, b'{"version": 1, "machine": ".."}')
    before = contents(clone)
    moved = pull(history(clone))
    assert moved.files == 0
    (warning,) = moved.warnings
    assert warning.startswith("not results, left alone")
    assert contents(clone) == before


def test_a_huge_file_is_left_alone(clone: Path, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on_branch(tmp_path, origin, {"runner/aaaaaaaa-x.json": b" " * 2000, "runner/machine.json": MACHINE_JSON})
    for module in ("app.history", "workspace.results_branch"):
        monkeypatch.setattr(f"solwatch.{module}.MOST_FILE_BYTES", 1000)
    moved = pull(history(clone))
    assert list(contents(results_of(clone))) == ["runner/machine.json"]
    (warning,) = moved.warnings
    assert "aaaaaaaa-x.json is left alone, here and on asv-results: has more than" in warning
    monkeypatch.setattr("solwatch.workspace.results_branch.MOST_BYTES", 10)
    with pytest.raises(MachineError, match="MiB of results, more than"):
        pull(history(project(tmp_path / "fresh", origin)))


def test_a_link_out_of_the_results_folder_is_not_followed(clone: Path, origin: Path, tmp_path: Path) -> None:
    put_on_branch(tmp_path, origin, {"runner/machine.json": MACHINE_JSON})
    outside = tmp_path / "outside"
    outside.mkdir()
    results_of(clone).mkdir(parents=True)
    (results_of(clone) / "runner").symlink_to(outside)
    with pytest.raises(MachineError, match="is a link, and results are not written beyond it"):
        pull(history(clone))
    assert list(outside.iterdir()) == []
    (outside / "aaaaaaaa-x.json").write_text("{}")
    with pytest.raises(NothingMeasuredError):
        push(history(clone))


def test_a_broken_file_here_is_left_alone_and_the_others_are_pushed(clone: Path, origin: Path) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    (results_of(clone) / "runner" / "bbbbbbbb-half.json").write_text('{"version": 2, "res')
    moved = push(history(clone))
    assert moved.files == 3
    (warning,) = moved.warnings
    assert "bbbbbbbb-half.json is left alone, here and on asv-results: this machine's is not whole JSON" in warning


def test_results_that_a_commit_brings_along_are_not_pushed(clone: Path, origin: Path, tmp_path: Path) -> None:
    save(results_of(clone), "a" * 40, {CELL: [1.0]})
    name = next(path for path in contents(results_of(clone)) if path.endswith(".json") and "aaaaaaaa" in path)
    place = results_of(clone).relative_to(clone) / name
    git(clone, "add", "--force", str(place))
    git(clone, "commit", "--quiet", "--message", "Bring a result along")
    with pytest.raises(RequestError, match=f"git tracks {name} in .*: take it out of the repository"):
        push(history(clone))
    assert git(origin, "branch", "--list", BRANCH) == ""
    (clone / place).unlink()  # as the workflows do after each checkout
    save(results_of(clone), "b" * 40, {CELL: [1.0]})
    assert push(history(clone)).commit
    assert not any("aaaaaaaa" in path for path in on_branch(origin))
