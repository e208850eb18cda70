"""Gates and runs from end to end while something of the machine fails: real processes, the CPU as device."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from fakes.rounds import FakeClock

from solwatch.app.processes import WorkerProcess
from solwatch.model.errors import ExitCode, MachineError
from solwatch.model.protocol import Discover, Measure, MeasureEnergy, Open, Prepare, Release
from solwatch.model.record import Record
from solwatch.model.verdict import Reason, Verdict
from solwatch.workspace.files import disk_error
from solwatch.workspace.records import RecordWriter, read_record

pytestmark = pytest.mark.slow


def only_record(toy: Any) -> Record:
    (path,) = (toy.root / "build/solwatch/records").glob("*.jsonl")
    return read_record(path)


def test_a_worker_that_is_killed_once_in_each_phase_of_a_run_costs_nothing(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How many of the 3 x 2 cells have begun then: Discover and Open come before the first cell of a round, and
    # no cell is hit twice.
    due = {Discover: 0, MeasureEnergy: 2, Prepare: 3, Release: 4, Open: 4, Measure: 6}
    begun: list[str] = []
    ask = WorkerProcess.ask

    def killed_when_due(worker: WorkerProcess, request: Any, *arguments: Any, **options: Any) -> Any:
        if due.get(type(request)) == len(begun):
            del due[type(request)]
            worker.kill()
        return ask(worker, request, *arguments, **options)

    monkeypatch.setattr(WorkerProcess, "ask", killed_when_due)
    outcome = toy.compare(None, rounds=3, progress=toy.progress(begun.append))
    assert due == {}
    assert {cell.reason for cell in outcome.judgement.verdicts} == {Reason.MEASURED_ALONE}
    for completed in outcome.record.rounds:
        for cell in completed.cells:
            assert cell.head.failure is None
            assert cell.head.blocks


def test_out_of_memory_on_one_side_is_that_cells_and_the_others_are_measured(toy: Any) -> None:
    toy.commit(
        "too large",
        op="def double(x, out):\n    if len(x) == 8:\n        raise MemoryError('8 GiB')\n    out.copy_(x * 2)\n",
    )
    outcome = toy.compare("HEAD~1", rounds=1)
    found = {cell.key: cell for cell in outcome.judgement.verdicts}
    assert found["toy_suite.Toy(8)"].reason is Reason.OUT_OF_MEMORY
    assert found["toy_suite.Toy(16)"].verdict is not Verdict.BROKEN
    assert outcome.judgement.exit_code == ExitCode.SLOWER


def test_a_folder_of_records_that_can_not_be_written_is_said_before_anything_is_built(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: Any, **options: Any) -> tuple[int, str]:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("solwatch.workspace.files.tempfile.mkstemp", refused)
    with pytest.raises(
        MachineError, match=r"build/solwatch can't be written \(Read-only file system\): make"
    ) as raised:
        toy.compare("HEAD")
    assert "\n" not in str(raised.value)
    assert toy.said == []


def test_a_disk_that_becomes_read_only_keeps_completed_rounds(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    append = RecordWriter.append

    def read_only_in_the_second_round(writer: RecordWriter, completed: Any) -> None:
        def refused(*arguments: object) -> int:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        if completed.index == 1:
            monkeypatch.setattr("solwatch.workspace.files.os.write", refused)
        append(writer, completed)

    with monkeypatch.context() as patched:
        patched.setattr(RecordWriter, "append", read_only_in_the_second_round)
        with pytest.raises(MachineError, match=r"can't be written \(Read-only file system\): make its folder writable"):
            toy.compare("HEAD", rounds=3)
        monkeypatch.undo()
    assert len(only_record(toy).rounds) == 1
    assert "completed rounds are kept" in toy.said[-1]


def test_a_page_and_a_history_that_can_not_be_written_cost_no_verdict(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, data: bytes) -> None:
        raise disk_error(path, OSError(errno.EROFS, "read-only"))

    for module in ("keeping", "writing"):
        monkeypatch.setattr(f"solwatch.app.{module}.write_atomically", refused)
    toy.commit("wrong", op="def double(x, out):\n    out.copy_(x)\n")
    outcome = toy.compare("HEAD~1", rounds=1)
    assert outcome.judgement.exit_code == ExitCode.SLOWER
    assert outcome.kept.report is None
    assert [line.split(":")[0] for line in outcome.kept.warnings] == [
        "the report was not written",
        "asv's history was not written",
    ]


def test_a_date_that_steps_back_and_a_clock_that_stands_still_cost_nothing(toy: Any) -> None:
    clock = FakeClock(step_s=0.0)
    for _ in range(2):
        outcome = toy.compare("HEAD", rounds=2, clock=clock)
        assert {cell.verdict for cell in outcome.judgement.verdicts} == {Verdict.UNDECIDED}
        assert outcome.judgement.exit_code == ExitCode.UNDECIDED
        assert len(outcome.record.rounds) == 2
        assert outcome.kept.report is not None
    dates = [completed.started_at for completed in outcome.record.rounds]
    assert dates == sorted(dates, reverse=True)
