"""The plot of ``report``: a record read again, judged again, shown again."""

from pathlib import Path

from solwatch.app.fingerprints import ENVIRONMENT_FIELDS, require_comparable
from solwatch.app.outcome import Kept, Outcome
from solwatch.app.writing import Meanwhile, write_pictures, write_report
from solwatch.judge.judging import judge
from solwatch.model.errors import NothingMeasuredError, RequestError
from solwatch.workspace.files import read_lines
from solwatch.workspace.records import read_record


def newest_record(records: Path) -> Path:
    """Return the newest record with a completed round below ``records``; raises ``RequestError`` without one."""
    for path in sorted((records / "records").glob("*.jsonl"), key=lambda path: path.stem, reverse=True):
        if read_lines(path) and read_record(path).rounds:  # a run can be killed within its first line
            return path
    raise RequestError(f"no record in {records / 'records'} has a completed round: 'solwatch gate BASE HEAD' makes one")


def reported(path: Path, output: Path, *, png: bool = False, meanwhile: Meanwhile | None = None) -> Outcome:
    """Judge the record in ``path`` by the thresholds frozen in it and write its page into ``output``.

    ``png``: roofline and forest plot too, as pictures beside it. ``meanwhile``: called while the charts are drawn.

    Raises ``MachineError`` when its sides were measured on different devices or drivers.
    """
    record = read_record(path)
    if not record.rounds:
        raise NothingMeasuredError(f"{path} has no completed round: nothing to judge")
    header = record.header
    if header.base_fingerprint is not None:
        require_comparable(
            header.base_fingerprint, header.fingerprint, names=("base", "head"), subject=ENVIRONMENT_FIELDS
        )
    judgement = judge(record)
    report = write_report(record, judgement, output, meanwhile=meanwhile)
    if png:
        write_pictures(record, judgement, output)
    return Outcome(record=record, judgement=judgement, kept=Kept(report=report, record=path, warnings=[]))
