"""The plot of a bisection: what is kept, gone on with, refused; gates are fakes but for one from end to end."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.bisections import FakeGate, no_build
from fakes.records import CPU

from solwatch.app.bisecting import Bisecting, bisect
from solwatch.app.builds import packed_builds
from solwatch.app.clock import SystemClock
from solwatch.app.gate import compare
from solwatch.app.packing import packed
from solwatch.app.session import Request, Services
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.model.bisection import Found, State
from solwatch.model.cell import CellSelection
from solwatch.model.errors import ExitCode, MachineError, NothingMeasuredError, RequestError
from solwatch.workspace.git import Repository
from solwatch.workspace.records import read_record
from solwatch.workspace.settings import load_config

SLOW = {"first": 1.0, "two": 1.0, "three": 1.0, "four": 1.2, "five": 1.2, "six": 1.2}


@pytest.fixture
def history(toy: Any) -> Any:
    """Commits that all build something else."""
    for subject in list(SLOW)[1:]:
        toy.commit(subject, op=toy.op.format(seconds=0.001) + f"# {subject}\n")
    return toy


def run(toy: Any, gate: Any, good: str = "HEAD~5", bad: str = "HEAD", **given: Any) -> Found:
    overrides = given.pop("overrides", {})
    repository = Repository.open(toy.root)
    request = Request(
        command="solwatch bisect",
        head=bad,
        base=good,
        device="cpu",
        selection=given.pop("selection", CellSelection("all")),
        builds=given.pop("builds", None),
        config=load_config(toy.root, overrides),
        seed=1,
    )
    services = Services(
        repository=repository,
        clock=SystemClock(),
        environment=dict(os.environ),
        machine=given.pop("machine", "toy-machine"),
        say=toy.said.append,
        progress=lambda total, budget: toy.progress(lambda key: None),
    )
    return bisect(Bisecting(request=request, **given), services, gate)


def named(found: Found) -> list[str]:
    subjects = {commit.sha: commit.subject for commit in found.commits}
    return [subjects[sha] for sha in found.answers[0].suspects]


def test_finds_it_and_says_where_it_is(history: Any) -> None:
    gate = FakeGate(SLOW)
    found = run(history, gate)
    assert named(found) == ["four"]
    assert found.exit_code == ExitCode.SLOWER
    assert gate.taken == [("first", "six"), ("first", "three"), ("first", "four"), ("three", "four")]
    assert [request.selection.patterns for request in gate.requests] == [(), *[(r"^toy_suite\.Toy\(8\)$",)] * 3]
    said = [line for line in history.said if line.startswith("gate ")]
    assert said[0].startswith("gate 1, about 4 more after it: ")
    assert said[-1].startswith("gate 4, the last one when it decides: ")


def test_a_commit_that_does_not_build_is_skipped_and_said(history: Any) -> None:
    found = run(history, FakeGate(SLOW | {"three": no_build("three")}))
    assert named(found) == ["three", "four"]
    assert any(line.endswith("is skipped: does not build: exit code 1") for line in history.said)


def test_a_bad_that_does_not_build_is_a_wrong_request_and_nothing_is_kept(history: Any) -> None:
    with pytest.raises(RequestError, match="BAD does not build"):
        run(history, FakeGate(SLOW | {"six": no_build("six")}))
    assert not list((history.root / "build/solwatch/bisect").glob("*.json"))


@pytest.mark.parametrize("error", [NothingMeasuredError("no cell"), RequestError("has no folder 'benchmarks'")])
def test_a_commit_without_the_cell_or_the_suite_is_skipped(history: Any, error: Exception) -> None:
    assert named(run(history, FakeGate(SLOW | {"three": error}))) == ["three", "four"]


def test_a_machine_that_fails_ends_it(history: Any) -> None:
    with pytest.raises(MachineError, match="no GPU"):
        run(history, FakeGate(SLOW | {"three": MachineError("no GPU")}))


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_an_interruption_keeps_the_gates_and_the_same_command_goes_on(history: Any, number: int) -> None:
    first, second = FakeGate(SLOW, interrupts=number), FakeGate(SLOW)
    with pytest.raises(KeyboardInterrupt):
        run(history, first)
    assert ("the same command goes on" in history.said[-1]) == (number > 1)
    assert named(run(history, second)) == ["four"]
    assert len(first.taken) == number - 1
    assert len(first.taken) + len(second.taken) == 4


def test_a_finished_one_is_told_again_without_a_gate_and_taken_anew_when_asked(history: Any) -> None:
    run(history, FakeGate(SLOW))
    idle, fresh = FakeGate(SLOW), FakeGate(SLOW)
    assert named(run(history, idle)) == ["four"]
    assert idle.taken == []
    run(history, fresh, fresh=True)
    assert len(fresh.taken) == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [({"overrides": {"min_effect": 0.2}}, "min_effect"), ({"machine": "another"}, "machine")],
)
def test_gates_taken_otherwise_are_not_mixed_in(history: Any, given: dict[str, Any], said: str) -> None:
    run(history, FakeGate(SLOW))
    again = FakeGate(SLOW)
    run(history, again, **given)
    assert len(again.taken) == 4
    assert f"starting anew: the gates of the last call were taken with other {said}" in history.said


def test_gates_of_commits_that_are_not_in_between_are_left_out(history: Any) -> None:
    run(history, FakeGate(SLOW))
    (path,) = (history.root / "build/solwatch/bisect").glob("*.json")
    three = Repository.open(history.root).resolve("HEAD~3").sha
    path.write_text(path.read_text().replace(three, "0" * 40))
    again = FakeGate(SLOW)
    run(history, again)
    assert len(again.taken) == 4
    assert any(line.endswith("were taken with other commits between good and bad") for line in history.said)


def test_another_request_is_kept_beside(history: Any) -> None:
    run(history, FakeGate(SLOW))
    other = FakeGate(SLOW)
    run(history, other, selection=CellSelection("all", ("Toy",)))
    assert len(other.taken) == 4
    assert len(list((history.root / "build/solwatch/bisect").glob("*.json"))) == 2


def test_another_card_in_the_middle_starts_anew_and_says_so(history: Any) -> None:
    gate = FakeGate(SLOW)
    gate.fingerprints = [CPU, CPU, msgspec.structs.replace(CPU, model="another processor")]
    found = run(history, gate)
    assert named(found) == ["four"]
    assert "model: a processor of two cores != another processor" in " ".join(history.said)
    assert {each.fingerprint for each in found.gates} == {msgspec.structs.replace(CPU, model="another processor")}
    assert gate.taken.count(("first", "six")) == 2


def test_a_torn_or_foreign_file_is_refused_by_name(history: Any) -> None:
    run(history, FakeGate(SLOW))
    (path,) = (history.root / "build/solwatch/bisect").glob("*.json")
    path.write_text(path.read_text()[:-20])
    with pytest.raises(RequestError, match=r"is no bisection .*--fresh"):
        run(history, FakeGate(SLOW))
    assert named(run(history, FakeGate(SLOW), fresh=True)) == ["four"]


def test_documents_between_two_builds_take_no_gate_of_their_own(toy: Any) -> None:
    for subject, seconds in (("docs", 1), ("slow", 3), ("more docs", 3), ("last", 3)):
        toy.commit(subject, op=toy.op.format(seconds=seconds))
    gate = FakeGate({"first": 1.0, "docs": 1.0, "slow": 1.3, "more docs": 1.3, "last": 1.3})
    toy.commit("first again", op=toy.op.format(seconds=0.001))
    found = run(toy, gate, "HEAD~4", "HEAD~1")
    assert named(found) == ["slow"]
    assert gate.taken == [("docs", "last")]


def test_a_range_in_which_nothing_is_built_anew_is_refused(toy: Any) -> None:
    toy.commit("docs only")
    with pytest.raises(NothingMeasuredError, match="one and the same build and suite"):
        run(toy, FakeGate({}), "HEAD~1")


def test_a_floor_set_for_a_cell_has_no_say(history: Any) -> None:
    written = (history.root / "solwatch.toml").read_text()
    (history.root / "solwatch.toml").write_text(written + '[[cells]]\nmatch = "*"\nsol_floor = 0.9\n')
    gate = FakeGate(SLOW)
    run(history, gate)
    assert {cell.sol_floor for request in gate.requests for cell in request.config.cells} == {None}


@pytest.mark.slow
def test_from_end_to_end_with_real_gates(toy: Any, tmp_path: Path) -> None:
    toy.commit("docs only")
    toy.commit("a comment", op=toy.op.format(seconds=0.001) + "# nothing\n")
    setup = (toy.root / "setup.py").read_text()
    (toy.root / "setup.py").write_text("raise SystemExit('no compiler for you')\n")
    toy.commit("does not build")
    (toy.root / "setup.py").write_text(setup)
    toy.commit("slower", op=toy.op.format(seconds=0.003) + "# nothing\n")
    toy.commit("docs again")
    (toy.root / "untracked").write_text("")
    found = run(toy, compare, "HEAD~5", "HEAD")
    assert sum("working tree has changes" in line for line in toy.said) == 1, "it matters to HEAD alone"
    (answer, other) = found.answers
    assert named(found) == ["does not build", "slower"]
    assert answer.state is other.state is State.CONFIRMED
    assert answer.suspects == other.suspects
    records = [toy.root / gate.record for gate in found.gates if gate.record]
    assert len(records) == len(set(records)) >= 2
    assert all(read_record(path).rounds for path in records)
    assert found.exit_code == ExitCode.SLOWER


@pytest.mark.parametrize("change", ["mode", "attributes", "suite"])
def test_whatever_may_change_a_build_or_a_suite_makes_another_candidate(toy: Any, change: str) -> None:
    if change == "mode":
        (toy.root / "setup.py").chmod(0o755)
    elif change == "attributes":
        (toy.root / ".gitattributes").write_text("*.py eol=crlf\n")
    else:
        (toy.root / "benchmarks" / "data.txt").write_text("8, 16")
    toy.commit("changed")
    gate = FakeGate({"first": 1.0, "changed": 1.0})
    run(toy, gate, "HEAD~1")
    assert gate.taken == [("first", "changed")]


def test_a_cell_that_a_commit_lacks_is_tried_twice_and_the_commit_skipped(history: Any) -> None:
    gate = FakeGate(SLOW | {"three": None})
    assert named(run(history, gate)) == ["three", "four"]
    assert gate.taken.count(("first", "three")) == 2


def test_a_slower_null_kernel_is_searched_for_beside_the_cells_that_were_asked_for(history: Any) -> None:
    gate = FakeGate(SLOW, cell=NULL_KERNEL)
    assert named(run(history, gate, selection=CellSelection("all", ("Toy",)))) == ["four"]
    assert {request.selection.patterns for request in gate.requests} == {("Toy",)}


def test_a_first_gate_that_can_not_be_taken_ends_it(history: Any) -> None:
    with pytest.raises(RequestError, match="no set"):
        run(history, FakeGate(SLOW | {"six": RequestError("there is no set")}))


def test_a_device_that_changes_again_and_again_ends_it(history: Any) -> None:
    gate = FakeGate(SLOW)
    gate.fingerprints = [msgspec.structs.replace(CPU, power_limit_w=limit) for limit in (400.0, 500.0, 600.0)]
    with pytest.raises(MachineError, match=r"power_limit_w: 500\.0 != 600\.0"):
        run(history, gate)


def test_a_merge_is_at_fault_until_it_is_looked_inside(toy: Any) -> None:
    times = {"first": 1.0, "main work": 1.0, "side one": 1.0, "side two": 1.3, "merge": 1.3, "after": 1.3}
    toy.git("checkout", "-q", "-b", "side")
    for subject in ("side one", "side two"):
        (toy.root / "toy" / "side.py").write_text(f"# {subject}\n")
        toy.commit(subject)
    toy.git("checkout", "-q", "trunk")
    toy.commit("main work", op=toy.op.format(seconds=0.001) + "# main\n")
    toy.git("merge", "-q", "--no-ff", "side", "-m", "merge")
    toy.commit("after", op=toy.op.format(seconds=0.001) + "# after\n")
    assert named(run(toy, FakeGate(times), "HEAD~3")) == ["merge"]
    gate = FakeGate(times)
    assert named(run(toy, gate, "HEAD~3", inside_merges=True)) == ["side two"]
    assert gate.taken[-1] == ("side one", "side two")


def pack(toy: Any, folder: Path, *commits: str, between: bool = False) -> Path:
    packed(
        Repository.open(toy.root), load_config(toy.root, {}), commits, "cpu", folder,
        between=between, environment=dict(os.environ), say=toy.said.append,
    )  # fmt: skip
    return folder


@pytest.mark.slow
def test_with_builds_handed_over_nothing_is_compiled(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = (toy.root / "setup.py").read_text()
    (toy.root / "setup.py").write_text("raise SystemExit('no compiler for you')\n")
    toy.commit("does not build")
    (toy.root / "setup.py").write_text(setup)
    toy.commit("a comment", op=toy.op.format(seconds=0.001) + "# nothing\n")
    toy.commit("slower", op=toy.op.format(seconds=0.003))
    builds = pack(toy, tmp_path / "pack", "HEAD~3", "HEAD", between=True)
    monkeypatch.setattr("solwatch.workspace.builds.Builder.provide", lambda *_: pytest.fail("compiled"))
    monkeypatch.setattr("solwatch.workspace.builds.build_facts", lambda *_: pytest.fail("asked for a compiler"))
    found = run(toy, compare, "HEAD~3", builds=builds)
    assert named(found) == ["slower"]
    assert found.exit_code == ExitCode.SLOWER


@pytest.mark.slow
def test_commits_without_a_build_are_skipped_until_a_fuller_folder_has_one(history: Any, tmp_path: Path) -> None:
    builds = pack(history, tmp_path / "pack", "HEAD~5", "HEAD~4", "HEAD~2", "HEAD~1", "HEAD")
    first, again, fuller = FakeGate(SLOW), FakeGate(SLOW), FakeGate(SLOW)
    found = run(history, first, builds=builds)
    assert named(found) == ["three", "four"]
    assert f"{builds} has no build of 1 of them: they count as commits that don't build" in history.said
    assert f"no build of it in {builds}" in [gate.failed for gate in found.gates]
    assert not any("three" in pair for pair in first.taken)
    assert named(run(history, again, builds=builds)) == ["three", "four"]
    assert again.taken == []
    pack(history, builds, "HEAD~5", "HEAD", between=True)
    assert named(run(history, fuller, builds=builds)) == ["four"]
    assert fuller.taken == [("first", "three"), ("three", "four")]


@pytest.mark.slow
@pytest.mark.parametrize(("packed_ones", "said"), [(["HEAD"], "no build of HEAD~5"), (["HEAD~5"], "no build of HEAD ")])
def test_good_and_bad_must_have_a_build(history: Any, tmp_path: Path, packed_ones: list[str], said: str) -> None:
    builds, gate = pack(history, tmp_path / "pack", *packed_ones), FakeGate(SLOW)
    with pytest.raises(RequestError, match=said):
        run(history, gate, builds=builds)
    assert gate.taken == []


@pytest.mark.slow
def test_a_damaged_build_ends_it_and_is_no_commit_that_does_not_build(history: Any, tmp_path: Path) -> None:
    builds = pack(history, tmp_path / "pack", "HEAD~5", "HEAD", between=True)
    repository = Repository.open(history.root)
    key = packed_builds(repository, load_config(history.root, {}), builds).key(repository.resolve("HEAD~3"))
    middle = builds / f"{key}.zip"
    middle.write_bytes(middle.read_bytes()[:-1])
    with pytest.raises(RequestError, match="SHA-256 differs"):
        run(history, FakeGate(SLOW), builds=builds)
