"""The commits between two commits: lines, merges, what does not descend, and requests that make no sense."""

from pathlib import Path

import pytest
from fakes.scratch_project import ScratchProject

from solwatch.model.errors import RequestError
from solwatch.workspace.git import Repository
from solwatch.workspace.history import commits_between


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    made = ScratchProject(tmp_path / "project")
    made.commit("one")
    return made


def subjects(project: ScratchProject, good: str, bad: str, *, inside_merges: bool = False) -> list[str]:
    repository = Repository.open(project.root)
    found = commits_between(repository, repository.resolve(good), repository.resolve(bad), inside_merges=inside_merges)
    return [commit.subject for commit in found]


def merge(project: ScratchProject, branch: str, subject: str) -> None:
    project.git("merge", "--quiet", "--no-ff", branch, "--message", subject)


def test_a_line_is_good_then_all_that_follows(project: ScratchProject) -> None:
    project.commit("two")
    sha = project.commit("three")
    repository = Repository.open(project.root)
    found = commits_between(repository, repository.resolve("HEAD~2"), repository.resolve("HEAD"), inside_merges=False)
    assert [commit.subject for commit in found] == ["one", "two", "three"]
    assert found[-1].sha == sha
    assert found[-1].parents == [found[1].sha]
    assert found[-1].author == "scratch@example.org"


def test_a_merge_stands_for_its_branch_unless_it_is_looked_inside(project: ScratchProject) -> None:
    project.git("branch", "topic")
    project.commit("two")
    project.git("checkout", "--quiet", "topic")
    project.commit("side")
    project.git("checkout", "--quiet", "trunk")
    merge(project, "topic", "merge")
    assert subjects(project, "HEAD~2", "HEAD") == ["one", "two", "merge"]
    inside = subjects(project, "HEAD~2", "HEAD", inside_merges=True)
    assert (inside[0], sorted(inside[1:3]), inside[3]) == ("one", ["side", "two"], "merge")


def test_a_good_commit_of_a_merged_branch_is_reached_through_it(project: ScratchProject) -> None:
    project.git("checkout", "--quiet", "-b", "topic")
    project.commit("good")
    project.git("tag", "good")
    project.commit("after good")
    project.git("checkout", "--quiet", "trunk")
    project.commit("two")
    merge(project, "topic", "merge")
    project.commit("last")
    assert subjects(project, "good", "HEAD") == ["good", "after good", "merge", "last"]


def test_the_first_parent_ends_at_good_though_another_one_goes_on(project: ScratchProject) -> None:
    project.git("tag", "good")
    project.git("checkout", "--quiet", "-b", "topic")
    project.commit("side")
    project.git("checkout", "--quiet", "trunk")
    merge(project, "topic", "merge")
    assert subjects(project, "good", "HEAD") == ["one", "merge"]


def test_a_branch_that_left_before_good_is_not_searched(project: ScratchProject) -> None:
    project.git("branch", "old")
    project.commit("good")
    project.git("tag", "good")
    project.git("checkout", "--quiet", "old")
    project.commit("old work")
    project.git("checkout", "--quiet", "trunk")
    merge(project, "old", "merge")
    assert subjects(project, "good", "HEAD", inside_merges=True) == ["good", "merge"]


def test_subjects_and_authors_of_any_kind_are_kept_whole(project: ScratchProject) -> None:
    subject = "\x1b[31mred\x1b[0m | `code` ‮ ::error::"
    project.commit(subject)
    project.git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", "")
    assert subjects(project, "HEAD~2", "HEAD") == ["one", subject, ""]


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("HEAD", "HEAD", "HEAD and HEAD are one commit"),
        ("HEAD", "HEAD~1", "it is the other way round: give GOOD first, then BAD"),
        ("HEAD~1", "apart", "no line of commits from one to the other$"),
        ("HEAD", "topic", "their merge base is [0-9a-f]{8}: is that good?"),
    ],
)
def test_what_is_no_range_is_refused(project: ScratchProject, good: str, bad: str, said: str) -> None:
    project.git("checkout", "--quiet", "-b", "topic")
    project.commit("side")
    project.git("checkout", "--quiet", "--orphan", "apart")
    project.commit("apart")
    project.git("checkout", "--quiet", "trunk")
    project.commit("two")
    with pytest.raises(RequestError, match=said):
        subjects(project, good, bad)


def test_a_shallow_clone_says_how_to_get_the_rest(project: ScratchProject, tmp_path: Path) -> None:
    for subject in ("two", "three", "four"):
        project.commit(subject)
    project.git("branch", "other", "HEAD~3")
    project.git(
        "clone", "--quiet", "--depth", "1", "--no-single-branch", f"file://{project.root}", str(tmp_path / "shallow")
    )
    repository = Repository.open(tmp_path / "shallow")
    with pytest.raises(RequestError, match="shallow clone: run `git fetch --unshallow`"):
        commits_between(repository, repository.resolve("origin/other"), repository.resolve("HEAD"), inside_merges=False)
