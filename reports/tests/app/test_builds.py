"""Builds are solwatch's own: a commit can't bring any along."""

import os
from pathlib import Path

import pytest
from fakes.scratch_project import ScratchProject

from solwatch.app.builds import builder_for, packed_builds
from solwatch.model.config import Config
from solwatch.model.errors import RequestError
from solwatch.workspace.git import Repository


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    made = ScratchProject(tmp_path / "project")
    made.commit("first")
    return made


def tracked(project: ScratchProject, path: str) -> Repository:
    project.git("add", "--force", path)
    project.git("commit", "-qm", "bring it along")
    return Repository.open(project.root)


@pytest.mark.parametrize("path", ["build/solwatch/wheels/5eed/op.py", "build/solwatch/suites/5eed/benchmarks/cells.py"])
def test_builds_and_suites_that_a_commit_brings_along_are_refused(project: ScratchProject, path: str) -> None:
    project.write(path, "# the base's, made by the head\n")
    repository = tracked(project, path)
    with pytest.raises(RequestError, match=f"git tracks {path}.*git rm -r --cached build/solwatch"):
        builder_for(repository, Config(), "cpu", {})
    with pytest.raises(RequestError, match=f"git tracks {path}"):
        packed_builds(repository, Config(), project.root)


def test_a_link_in_the_place_of_the_folder_is_refused(project: ScratchProject) -> None:
    os.symlink("src", project.root / "build")
    with pytest.raises(RequestError, match="git tracks build, and"):
        builder_for(tracked(project, "build"), Config(), "cpu", {})


def test_what_else_lies_there_is_the_repositorys_own(project: ScratchProject) -> None:
    project.write("build/release.sh", "make\n")
    project.write("build/solwatch/wheels/5eed/op.py", "# not tracked\n")
    repository = tracked(project, "build/release.sh")
    assert builder_for(repository, Config(), "cpu", {}).command
