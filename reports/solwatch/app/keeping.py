"""What stays after a run: asv results for both commits and a report people can open."""

from pathlib import Path

from solwatch.app.outcome import Kept
from solwatch.app.writing import write_report
from solwatch.asvio.results import save_results
from solwatch.judge.judgement import Judgement
from solwatch.model.errors import SolwatchError
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
    if record.header.head_env is not None:
        # asv knows a result by its commit: two environments at one commit would take each other's place
        warnings.append("asv's history was not written: it is of commits, these times are of environments")
        return Kept(report=report, record=path, warnings=warnings)
    try:
        warnings += save_results(record, judgement, root / record.header.config.results, write=write_atomically)
    except _UNWRITABLE as error:
        warnings.append(f"asv's history was not written: {error}")
    return Kept(report=report, record=path, warnings=warnings)
