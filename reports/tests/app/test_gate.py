"""Gates from end to end: real git, real wheels, real processes, the CPU as device."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from solwatch.app.outcome import Outcome
from solwatch.judge.judging import judge
from solwatch.model.cell import CellSelection
from solwatch.model.errors import ExitCode, HeadBuildError, MachineError, NothingMeasuredError, RequestError
from solwatch.model.verdict import Reason, Verdict
from solwatch.workspace.records import read_record

pytestmark = pytest.mark.slow


def verdicts(outcome: Outcome) -> dict[str, Verdict]:
    return {cell.key: cell.verdict for cell in outcome.judgement.verdicts}


def test_same_code_passes_and_leaves_everything_behind(toy: Any) -> None:
    toy.commit("docs only")
    outcome = toy.compare("HEAD~1")
    assert outcome.judgement.exit_code == ExitCode.OK
    assert toy.said.index("head and base are one and the same build: only noise can differ between them") < (
        toy.said.index("surveying cells and ceilings on cpu")
    )
    assert Verdict.SLOWER not in verdicts(outcome).values()
    assert outcome.kept.report.read_text().startswith("<!DOCTYPE html>")
    assert json.loads((toy.root / "build/report/report.json").read_text())
    assert len(read_record(outcome.kept.record).rounds) == 5
    results = list((toy.root / "build/asv/results").glob("*/*-*.json"))
    assert len(results) == 2


def test_a_slower_head_fails_and_the_repair_passes(toy: Any) -> None:
    toy.commit("slower", op=toy.op.format(seconds=0.003))
    toy.commit("repaired", op=toy.op.format(seconds=0.001))
    slower = toy.compare("HEAD~2", "HEAD~1")
    assert slower.judgement.exit_code == ExitCode.SLOWER
    assert set(verdicts(slower).values()) == {Verdict.SLOWER}
    reason = "no machine code differs between the builds; what does: toy/__init__.py"
    assert {cell.evidence[1] for cell in slower.judgement.verdicts} == {reason}
    assert reason in slower.kept.report.read_text()
    assert judge(read_record(slower.kept.record)).verdicts == slower.judgement.verdicts
    repaired = toy.compare("HEAD~1", "HEAD")
    assert repaired.judgement.exit_code == ExitCode.OK
    assert set(verdicts(repaired).values()) == {Verdict.FASTER}


def test_a_wrong_result_is_broken_never_fast(toy: Any) -> None:
    toy.commit("wrong", op="def double(x, out):\n    out.copy_(x)\n")
    outcome = toy.compare("HEAD~1", rounds=1)
    assert outcome.judgement.exit_code == ExitCode.SLOWER
    # 2 x 0 is 0: only the sizes with other elements can tell, and all have them
    assert {cell.reason for cell in outcome.judgement.verdicts} == {Reason.WRONG_RESULT}
    assert "rounds are limited to 1, a slowdown can't show in less than 12: raise --rounds" in toy.said


def test_a_hanging_head_is_ended_and_broken(toy: Any) -> None:
    toy.commit("hangs", op="import time\ndef double(x, out):\n    time.sleep(600)\n", config=toy.impatient)
    started = time.monotonic()
    outcome = toy.compare("HEAD~1", rounds=1)
    assert {cell.reason for cell in outcome.judgement.verdicts} == {Reason.HUNG}
    assert outcome.judgement.exit_code == ExitCode.SLOWER
    assert time.monotonic() - started < 60


def test_a_head_that_kills_its_process_is_broken_and_the_other_cells_go_on(toy: Any) -> None:
    killer = (
        "import os\ndef double(x, out):\n    out.copy_(x * 2)\n    os.kill(os.getpid(), 9) if len(x) == 8 else None\n"
    )
    toy.commit("crashes", op=killer)
    outcome = toy.compare("HEAD~1", rounds=1)
    by_key = {cell.key: cell for cell in outcome.judgement.verdicts}
    assert by_key["toy_suite.Toy(8)"].reason is Reason.DIED
    assert "SIGKILL" in " ".join(by_key["toy_suite.Toy(8)"].evidence)
    assert by_key["toy_suite.Toy(16)"].verdict is not Verdict.BROKEN


def test_a_worker_killed_once_from_outside_is_measured_again(toy: Any) -> None:
    toy.commit("same")
    killed: list[int] = []

    def kill_one_worker(key: str) -> None:
        if not killed and key.endswith("(16)"):
            killed.extend(_workers())
            os.kill(killed[0], signal.SIGKILL)

    outcome = toy.compare("HEAD~1", rounds=2, progress=toy.progress(kill_one_worker))
    assert killed
    assert Verdict.BROKEN not in verdicts(outcome).values()
    assert len(outcome.record.rounds) == 2


def test_a_benchmark_that_only_base_has_is_broken_and_one_only_head_has_is_new(toy: Any) -> None:
    toy.commit("other sizes", suite=toy.suite.replace("[[8, 16]]", "[[16]]"))
    outcome = toy.compare("HEAD~1", rounds=1)
    assert verdicts(outcome)["toy_suite.Toy(8)"] is Verdict.BROKEN
    toy.commit("an op that base lacks", op=toy.op.format(seconds=0.001) + "\ntriple = double\n",
               suite=toy.suite.replace("toy.double", "toy.triple"))  # fmt: skip
    outcome = toy.compare("HEAD~1", rounds=1)
    assert {cell.verdict for cell in outcome.judgement.verdicts} == {Verdict.NEW}
    assert outcome.judgement.exit_code == ExitCode.OK


def test_a_set_that_only_head_has_is_gated(toy: Any) -> None:
    divided = toy.suite.replace("    params =", "    sets = {}\n    params =")
    toy.commit(suite=divided.replace("{}", '{"standard": [(8,)]}'))
    toy.commit(suite=divided.replace("{}", '{"standard": [(8,)], "nightly": [(16,)]}'))
    outcome = toy.compare("HEAD~1", rounds=1, selection=CellSelection("nightly"))
    assert [cell.key for cell in outcome.record.header.cells] == ["toy_suite.Toy(16)"]
    with pytest.raises(RequestError, match="no cell on cpu is in the set 'nightly'; the sets are standard, all"):
        toy.compare("HEAD", "HEAD~1", rounds=1, selection=CellSelection("nightly"))


@pytest.mark.parametrize(
    ("selection", "error", "message"),
    [
        (CellSelection("quik"), RequestError, "there is no set 'quik': this suite has no sets"),
        (CellSelection("all", ("zzz",)), NothingMeasuredError, "no cell on cpu matches zzz"),
    ],
)
def test_a_mistyped_name_is_refused_before_anything_is_built(
    toy: Any, selection: CellSelection, error: type[Exception], message: str
) -> None:
    toy.unbuilt()
    toy.commit("waits for nothing", suite=toy.suite + "\nimport sys\nassert 'torch' not in sys.modules\n")
    with pytest.raises(error, match=message):
        toy.compare(None, rounds=1, selection=selection)
    assert toy.said == []


@pytest.mark.parametrize("guard", ["", "try:\n    import toy\nexcept ImportError:\n    toy = None\nif toy:"])
def test_a_cell_that_is_there_only_once_the_op_is_built_is_measured(toy: Any, guard: str) -> None:
    also = guard + "\n    def time_also():\n        pass\n" if guard else "import toy\ndef time_also():\n    pass\n"
    toy.commit(suite=toy.suite + also)
    outcome = toy.compare(None, rounds=1, selection=CellSelection("all", ("time_also",)))
    assert [cell.key for cell in outcome.record.header.cells] == ["toy_suite.time_also"]


def test_builds_that_fail_are_the_heads_or_the_machines_fault(toy: Any) -> None:
    good = toy.git("rev-parse", "HEAD")
    (toy.root / "setup.py").write_text("raise SystemExit('no compiler for you')\n")
    bad = toy.commit("does not build")
    with pytest.raises(HeadBuildError, match="no compiler for you"):
        toy.compare(good, bad)
    with pytest.raises(MachineError, match="no compiler for you"):
        toy.compare(bad, good)


def test_a_first_commit_is_measured_alone(toy: Any) -> None:
    outcome = toy.compare(None)
    assert {cell.reason for cell in outcome.judgement.verdicts} == {Reason.MEASURED_ALONE}
    assert outcome.judgement.exit_code == ExitCode.OK


def test_the_working_tree_is_measured_only_when_asked(toy: Any) -> None:
    (toy.root / "toy" / "__init__.py").write_text(toy.op.format(seconds=0.004))
    assert set(verdicts(toy.compare("HEAD", "HEAD", rounds=5)).values()) != {Verdict.SLOWER}
    assert any("working tree has changes" in line for line in toy.said)
    last = toy.compare("HEAD", None)
    assert set(verdicts(last).values()) == {Verdict.SLOWER}, [(c.reason, c.evidence) for c in last.judgement.verdicts]


def test_interruption_keeps_completed_rounds_and_leaves_no_process(toy: Any) -> None:
    toy.commit("same")
    seen: list[str] = []

    def interrupt_in_the_second_round(key: str) -> None:
        seen.append(key)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        toy.compare("HEAD~1", progress=toy.progress(interrupt_in_the_second_round))
    (path,) = (toy.root / "build/solwatch/records").glob("*.jsonl")
    record = read_record(path)
    assert len(record.rounds) == 1
    assert record.end is not None
    assert record.end.stopped == "interrupted"
    assert _workers() == []


def test_an_empty_selection_and_unknown_commits_are_requests_that_make_no_sense(toy: Any) -> None:
    with pytest.raises(RequestError, match="no-such-branch"):
        toy.compare("no-such-branch")
    toy.commit("no cells", suite="")
    with pytest.raises(NothingMeasuredError):
        toy.compare("HEAD")


def _workers() -> list[int]:
    """Return the pids of workers that run below this process's fork server."""
    me = os.getpid()
    servers = [pid for pid, parent in _processes() if parent == me and b"forkserver" in _command(pid)]
    return [pid for pid, parent in _processes() if parent in servers]


def _processes() -> list[tuple[int, int]]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            found.append((int(entry.name), parent))
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_two_runs_on_one_machine_score_against_the_same_ceilings(toy: Any) -> None:
    (toy.root.parent / ".solwatch/ceilings").unlink()  # the first of the two measures
    first, second = (toy.compare(None, rounds=1).record.header.ceilings for _ in range(2))
    assert first.sustained_flops["float32"] > 0
    assert first == second


def test_a_setting_for_cells_that_are_not_there_is_said(toy: Any) -> None:
    written = (toy.root / "solwatch.toml").read_text()
    matches = '[[cells]]\nmatch = "toy_suite.Tyo*"\nsol_floor = 0.5\n[[cells]]\nmatch = "toy_suite.T*"\n'
    toy.commit("mistyped", config=written + matches)
    said = [note for note in toy.compare(None, rounds=1).record.header.notes if "matches no cell" in note]
    assert said == ["[[tool.solwatch.cells]] match = 'toy_suite.Tyo*' matches no cell of the suite: it sets nothing"]


def test_a_cell_with_a_budget_of_rounds_is_measured_no_longer_and_said_to_be_short(toy: Any) -> None:
    written = (toy.root / "solwatch.toml").read_text()
    toy.commit("a budget", config=written + '[[cells]]\nmatch = "*(8)"\nmost_rounds = 2\n')
    outcome = toy.compare("HEAD~1", rounds=3)
    measured = [sorted(cell.key for cell in each.cells) for each in outcome.record.rounds]
    both = ["toy_suite.Toy(16)", "toy_suite.Toy(8)"]
    assert measured == [both, both, ["toy_suite.Toy(16)"]]
    assert (
        "cells that match '*(8)' are limited to 2, a slowdown can't show in less than 12: raise their most_rounds"
        in (toy.said)
    )
