"""What stays after a run: asv results for both commits and a report people can open."""

from pathlib import Path

from solwatch.app.gate_pages import FOLDER, keep_page
from solwatch.app.limits import keep_limits, limit_rows
from solwatch.app.outcome import Kept
from solwatch.app.writing import write_report
from solwatch.asvio.machine import machine_info
from solwatch.asvio.results import save_results
from solwatch.judge.judgement import Judgement
from solwatch.model.errors import SolwatchError
from solwatch.model.history import LimitRow
from solwatch.model.record import Record
from solwatch.workspace.files import write_atomically

_UNWRITABLE = (SolwatchError, OSError, ValueError, OverflowError, RecursionError)
"""What a folder that isn't asv's, a file nested without end or a commit's impossible date lead to."""


def keep(record: Record, judgement: Judgement, root: Path, path: Path) -> Kept:
    """Write the report, then asv's results: a results folder that can't be merged into must not cost the page."""
    report, warnings = None, []
    try:
        report = write_report(record, judgement, root / record.header.config.report)
    except (SolwatchError, OSError) as error:
        warnings.append(f"the report was not written: {error}")
    else:
        warnings += _kept_for_site(record, judgement, report, root / record.header.config.records / FOLDER, path.stem)
    if record.header.head_env is not None:
        # asv knows a result by its commit: two environments at one commit would take each other's place
        warnings.append("asv's history was not written: it is of commits, these times are of environments")
        return Kept(report=report, record=path, warnings=warnings)
    try:
        results = root / record.header.config.results
        warnings += save_results(record, judgement, results, write=write_atomically)
        keep_limits(results, _limits(record))
    except _UNWRITABLE as error:
        warnings.append(f"asv's history was not written: {error}")
    return Kept(report=report, record=path, warnings=warnings)


def _kept_for_site(record: Record, judgement: Judgement, report: Path, folder: Path, name: str) -> list[str]:
    try:
        keep_page(record, judgement, report.read_bytes(), folder, name)
    except (SolwatchError, OSError) as error:
        return [f"the report was not kept for the site: {error}"]
    return []


def _limits(record: Record) -> list[LimitRow]:
    header = record.header
    return limit_rows(
        header.cells,
        header.work,
        header.ceilings,
        machine=machine_info()["machine"],
        model=header.fingerprint.model,
        taken_at=header.created_at,
    )
