"""Which commit the pinned reference is, and what is said where there is none."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.scratch_project import ScratchProject

from solwatch.app.reference import pinned_reference
from solwatch.asvio.resultfiles import Description, Measured, Samples, write_results
from solwatch.model.config import Config
from solwatch.model.errors import RequestError
from solwatch.model.reference import Reference
from solwatch.workspace.git import Repository

Chooser = Callable[..., Reference]


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    return ScratchProject(tmp_path / "project")


@pytest.fixture
def chosen(project: ScratchProject) -> Chooser:
    def choose(head: str | None = "HEAD", **settings: Any) -> Reference:
        repository = Repository.open(project.root)
        commit = repository.resolve(head) if head else repository.working_tree()
        return pinned_reference(repository, msgspec.structs.replace(Config(), **settings), commit, "runner")

    return choose


def commit(project: ScratchProject, day: int, tag: str | None = None) -> str:
    date = f"2026-01-{day:02d}T12:00:00+00:00"
    os.environ["GIT_COMMITTER_DATE"] = date
    try:
        sha = project.commit(f"day {day}")
        if tag:
            project.git("tag", "--annotate", "--message", tag, tag)
    finally:
        del os.environ["GIT_COMMITTER_DATE"]
    return sha


def test_without_the_setting_it_is_said_what_can_be_set(project: ScratchProject, chosen: Chooser) -> None:
    commit(project, 1)
    with pytest.raises(RequestError, match=r'set reference in .* to a tag or commit, "last-release" or "best"'):
        chosen()


def test_a_commit_by_name(project: ScratchProject, chosen: Chooser) -> None:
    commit(project, 1, "v1")
    assert chosen(reference="v1").commit == "v1"
    with pytest.raises(RequestError, match="unknown commit 'v2'"):
        chosen(reference="v2")


def test_the_last_release_is_the_newest_tag_before_head_that_matches(project: ScratchProject, chosen: Chooser) -> None:
    commit(project, 1, "v1.9")
    commit(project, 2, "v1.10")
    commit(project, 3, "nightly-7")
    commit(project, 4)
    found = chosen(reference="last-release")
    assert found.commit == "tags/v1.10"
    assert found.why == "the newest tag that matches v* and that HEAD descends from"
    assert chosen(reference="last-release", release_tags="nightly-*").commit == "tags/nightly-7"
    # a branch of the tag's name, and a newer release on another branch, are none of it
    project.git("branch", "v1.10", "v1.9^{commit}")
    project.git("checkout", "-q", "-b", "other")
    commit(project, 5, "v2.0")
    assert chosen("trunk", reference="last-release").commit == "tags/v1.10"


def test_a_release_is_compared_with_the_one_before_it(project: ScratchProject, chosen: Chooser) -> None:
    commit(project, 1, "v1")
    commit(project, 2, "v2")
    assert chosen("v2", reference="last-release").commit == "tags/v1"
    assert chosen(None, reference="last-release").commit == "tags/v2"
    with pytest.raises(RequestError, match=r"there is no release before v1: no tag .* release_tags = 'v\*'; tag one"):
        chosen("v1", reference="last-release")


def test_a_shallow_clone_says_that_it_is_one(project: ScratchProject, tmp_path: Path) -> None:
    commit(project, 1, "v1")
    commit(project, 2)
    project.git("clone", "-q", "--depth=1", f"file://{project.root}", str(tmp_path / "shallow"))
    repository = Repository.open(tmp_path / "shallow")
    with pytest.raises(RequestError, match="this clone is shallow: fetch the whole history and its tags"):
        pinned_reference(repository, Config(reference="last-release"), repository.resolve("HEAD"), "runner")


def timed(project: ScratchProject, sha: str, seconds: float) -> None:
    def put(path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    machine = {"machine": "runner", "os": "Linux", "arch": "x86_64", "cpu": "c", "num_cpu": "2", "ram": "1"}
    measured = Measured(machine=machine, commit=sha, date_ms=0, python="3.11")
    benchmark = Description(name="t", params=[], param_names=[], type="time", unit="seconds", version="1")
    write_results(
        project.root / "build/asv/results", measured, [benchmark], {"t": {(): Samples([seconds] * 3)}}, write=put
    )


def test_the_best_segment_of_this_machines_history(project: ScratchProject, chosen: Chooser) -> None:
    shas = [commit(project, day) for day in range(1, 10)]
    with pytest.raises(RequestError, match="results/runner has no times of a commit before HEAD"):
        chosen(reference="best")
    for sha, seconds in zip(shas, [1.0, 1.0, 1.0, 0.9, 0.9, 0.9, 0.95, 0.95, 0.5], strict=True):
        timed(project, sha, seconds)
    found = chosen(reference="best")
    assert found.commit == shas[5]  # head's own time, the lowest of all, has no part in it
    assert found.why.endswith("of asv's history on this machine, of 8 commits with times")
