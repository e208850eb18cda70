"""Plans: each event's two commits, and whether anything that can change a time has changed."""

import json
import subprocess
from pathlib import Path

import pytest
from fakes.scratch_project import ScratchProject

from solwatch.app.planning import planned, planned_between, read_event
from solwatch.model.ci_event import NO_COMMIT, Event, Inputs, MergeGroup, PullRequest, Tip
from solwatch.model.ci_plan import Plan
from solwatch.model.config import Config
from solwatch.model.errors import RequestError
from solwatch.workspace.git import Repository

CONFIG = Config(build_inputs=["setup.py", "./src"])
ABSENT = "5eed" * 10


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    made = ScratchProject(tmp_path / "project")
    made.write("benchmarks/cells.py", "")
    made.commit("first")
    return made


def plan(project: ScratchProject, name: str, event: Event) -> Plan:
    return planned(Repository.open(project.root), CONFIG, name, event)


@pytest.mark.parametrize(
    ("path", "needed", "reason"),
    [
        ("src/tinyop/native.c", True, "files changed: 1 in the build inputs"),
        ("setup.py", True, "files changed: 1 in the build inputs"),
        ("benchmarks/cells.py", True, "files changed: 1 in the suite"),
        ("solwatch.toml", True, "files changed: 1 in the settings"),
        ("solwatch.accepted.toml", True, "files changed: 1 in the settings"),
        ("pyproject.toml", True, "files changed: 1 in the settings"),
        (".gitattributes", True, "files changed: 1 in the build inputs"),
        ("docs/.gitattributes", False, "elsewhere: 1"),
        ("docs/@octocat\n::error::x.md", False, "elsewhere: 1"),
        ("srcs/near.c", False, "elsewhere: 1"),
        ("docs/pyproject.toml", False, "elsewhere: 1"),
    ],
)
def test_what_can_change_a_time_is_measured(project: ScratchProject, path: str, needed: bool, reason: str) -> None:
    project.write(path, "# changed\n")
    head = project.commit("change")
    found = planned_between(Repository.open(project.root), CONFIG, "HEAD~1", "HEAD")
    assert (found.head, found.needed) == (head, needed)
    assert found.reason.endswith(reason)
    assert "octocat" not in found.reason, "nothing from outside reaches an output"


def test_a_submodule_that_git_is_told_to_ignore_counts(project: ScratchProject) -> None:
    said = '[submodule "library"]\n\tpath = src/library\n\turl = https://x.example/library\n\tignore = all\n'
    project.write(".gitmodules", said)
    (project.root / "src" / "library").mkdir()
    for commit in ("a" * 40, "b" * 40):
        project.git("add", ".gitmodules")
        project.git("update-index", "--add", "--cacheinfo", f"160000,{commit},src/library")
        project.git("commit", "-qm", "library")
    found = planned_between(Repository.open(project.root), CONFIG, "HEAD~1", "HEAD")
    assert (found.needed, found.reason) == (True, "files changed: 1 in the build inputs")


def test_files_that_moved_or_went_count_and_so_do_all_parts(project: ScratchProject) -> None:
    project.git("mv", "src/tinyop/native.c", "native.c")
    project.git("rm", "-q", "benchmarks/cells.py")
    project.commit("away")
    found = planned_between(Repository.open(project.root), CONFIG, "HEAD~1", "HEAD")
    assert found.reason == "files changed: 1 in the build inputs, 1 in the suite"


def test_a_push_is_compared_with_what_was_there_before(project: ScratchProject) -> None:
    before = project.git("rev-parse", "HEAD")
    project.answer(2)
    project.commit("one")
    after = project.commit("two")
    found = plan(project, "push", Event(before=before, after=after))
    assert (found.base, found.head, found.needed) == (before, after, True)


@pytest.mark.parametrize("before", [NO_COMMIT, ABSENT, None])
def test_a_new_branch_and_a_rewritten_one_are_compared_with_the_parent(
    project: ScratchProject, before: str | None
) -> None:
    parent = project.git("rev-parse", "HEAD")
    after = project.commit("one")
    assert plan(project, "push", Event(before=before, after=after)).base == parent


def test_a_push_of_several_commits_to_a_shallow_clone_is_refused(project: ScratchProject, tmp_path: Path) -> None:
    before = project.git("rev-parse", "HEAD")
    project.answer(2)
    project.commit("slower")
    project.commit("words")
    after = project.commit("more words")
    project.git("clone", "-q", "--depth=2", f"file://{project.root}", str(tmp_path / "shallow"))
    with pytest.raises(RequestError, match=r"is not in this shallow clone: run `git fetch --unshallow`"):
        planned(Repository.open(tmp_path / "shallow"), CONFIG, "push", Event(before=before, after=after))


def test_the_first_commit_has_nothing_to_be_compared_with(project: ScratchProject) -> None:
    head = project.git("rev-parse", "HEAD")
    found = plan(project, "push", Event(before=NO_COMMIT, after=head))
    assert (found.base, found.head, found.needed) == (None, head, False)
    assert "nothing to compare" in found.reason


def test_a_deleted_branch_is_not_measured(project: ScratchProject) -> None:
    found = plan(project, "push", Event(before=project.git("rev-parse", "HEAD"), after=NO_COMMIT))
    assert (found.head, found.needed, found.reason) == (None, False, "the branch was deleted")


def test_a_pull_request_is_compared_with_where_it_left_the_branch(project: ScratchProject) -> None:
    fork = project.git("rev-parse", "HEAD")
    project.answer(3)
    onto = project.commit("main goes on")
    project.git("checkout", "-q", "-b", "feature", fork)
    project.write("README", "docs\n")
    tip = project.commit("feature")
    found = plan(project, "pull_request", Event(pull_request=PullRequest(base=Tip(onto), head=Tip(tip))))
    assert (found.base, found.head) == (fork, tip)
    assert not found.needed, "what main did meanwhile is not the feature's"


def test_histories_without_a_common_commit_are_refused(project: ScratchProject) -> None:
    onto = project.git("rev-parse", "HEAD")
    project.git("checkout", "-q", "--orphan", "other")
    tip = project.commit("other root")
    event = Event(pull_request=PullRequest(base=Tip(onto), head=Tip(tip)))
    with pytest.raises(RequestError, match="no commit in common: fetch all"):
        plan(project, "pull_request", event)


def test_a_merge_queue_is_compared_with_what_it_merges_onto(project: ScratchProject) -> None:
    base = project.git("rev-parse", "HEAD")
    project.answer(2)
    project.commit("first of the group")
    head = project.commit("second")
    found = plan(project, "merge_group", Event(merge_group=MergeGroup(base_sha=base, head_sha=head)))
    assert (found.base, found.head, found.needed) == (base, head, True)


def test_what_is_asked_for_by_hand_is_measured_whatever_changed(project: ScratchProject, tmp_path: Path) -> None:
    first = project.git("rev-parse", "HEAD")
    head = project.commit("nothing")
    assert plan(project, "schedule", Event()) == Plan(
        event="schedule", base=first, head=head, needed=True, reason="asked for, whatever changed"
    )
    project.git("tag", "v1", first)
    found = plan(project, "workflow_dispatch", Event(inputs=Inputs(base="v1", head="")))
    assert (found.base, found.head) == (first, head)
    project.git("branch", "feature", first)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(project.root), str(clone)], check=True)
    there = Repository.open(clone)
    found = planned(there, CONFIG, "workflow_dispatch", Event(inputs=Inputs(head="trunk", base="feature")))
    assert (found.base, found.head) == (first, head), "a branch that is only on the remote is found there"


@pytest.mark.parametrize("name", ["--output=/tmp/x", "$(id)", "a..b", "a\nb", "no-such"])
def test_a_name_that_was_typed_is_the_name_of_a_commit_or_refused(project: ScratchProject, name: str) -> None:
    with pytest.raises(RequestError):
        plan(project, "workflow_dispatch", Event(inputs=Inputs(base=name)))


@pytest.mark.parametrize("name", ["pull_request", "merge_group"])
def test_an_event_without_its_part_is_refused(project: ScratchProject, name: str) -> None:
    with pytest.raises(RequestError, match=f"no {name}"):
        plan(project, name, Event())


def test_other_events_are_refused_by_name(project: ScratchProject) -> None:
    with pytest.raises(RequestError, match="'issue_comment' is not known: allowed are push, pull_request"):
        plan(project, "issue_comment", Event())


def test_an_event_is_read_and_the_rest_of_its_file_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"before": ABSENT, "after": NO_COMMIT, "pusher": {"name": "x"}, "inputs": None}))
    assert read_event(path) == Event(before=ABSENT, after=NO_COMMIT)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"before": "main; rm -rf /"}',
        '{"after": 7}',
        '{"pull_request": {}}',
        "[" * 100_000,
        '{"before": "\xff',
    ],
)
def test_what_is_not_an_event_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "event.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(RequestError, match=r"event.json is not an event") as raised:
        read_event(path)
    assert "\n" not in str(raised.value)
