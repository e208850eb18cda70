"""The limits of each cell on each machine: work and ceilings, a row for each, kept beside the results."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from solwatch.model.cell import CellInfo, Work
from solwatch.model.errors import RequestError
from solwatch.model.history import LimitRow
from solwatch.model.record import Ceilings
from solwatch.sol.score import sol_limit
from solwatch.workspace.files import read_whole, write_atomically
from solwatch.workspace.rows import merged_rows, read_rows, write_rows

LIMITS = "limits.jsonl"
"""The file, below the folder of results; asv leaves it alone, it loads what ends in ``.json``."""


def limit_rows(
    cells: Sequence[CellInfo], work: Mapping[str, Work], ceilings: Ceilings, *, machine: str, model: str, taken_at: str
) -> list[LimitRow]:
    """Return a row for each cell whose work has both ceilings."""
    rows = []
    for cell in cells:
        done = work.get(cell.key)
        limit = sol_limit(done, ceilings) if done else None
        if done is None or limit is None or not (limit.peak_flops and limit.peak_bandwidth):
            continue
        if not (done.flops > 0 and done.traffic_bytes > 0):
            continue
        row = LimitRow(
            taken_at=taken_at,
            machine=machine,
            model=model,
            benchmark=cell.benchmark,
            params=cell.params,
            flops=done.flops,
            traffic_bytes=done.traffic_bytes,
            dtype=done.dtype,
            kind=limit.kind.value,
            peak_flops=limit.peak_flops,
            peak_bandwidth=limit.peak_bandwidth,
            sustained_flops=ceilings.sustained_flops.get(done.dtype),
            sustained_bandwidth=ceilings.sustained_bandwidth,
        )
        rows.append(row)
    return rows


def keep_limits(results_dir: Path, rows: Sequence[LimitRow]) -> None:
    """Add ``rows`` to what is kept; raises ``SolwatchError`` where that can't be read or written."""
    if rows:
        known = kept_limits(results_dir)
        joined = joined_limits(known, rows)
        if joined != known:
            write_atomically(results_dir / LIMITS, write_rows(joined))


def kept_limits(results_dir: Path) -> list[LimitRow]:
    """Return all rows; none where there is no file yet. Raises ``RequestError`` when it can't be read."""
    path = results_dir / LIMITS
    if not path.exists():
        return []
    try:
        return read_rows(read_whole(path), LimitRow)
    except ValueError as error:
        raise RequestError(f"{path}: {error}: move it away, `solwatch history pull` brings the branch's") from error


def joined_limits(first: Iterable[LimitRow], second: Iterable[LimitRow]) -> list[LimitRow]:
    """Return the newest row of each cell on each machine; of two that are equally new, the one in ``first``."""
    newest: dict[tuple[str, ...], LimitRow] = {}
    for row in merged_rows(first, second, key=lambda row: (row.taken_at, *_cell(row))):
        newest[_cell(row)] = row
    return [newest[key] for key in sorted(newest)]


def _cell(row: LimitRow) -> tuple[str, ...]:
    return (row.machine, row.benchmark, *row.params)
