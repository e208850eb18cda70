"""The noise of each card: what gates of a commit against itself show, a row for each cell, kept beside the results."""

import statistics
from collections.abc import Iterable
from pathlib import Path

from solwatch.app.condensing import replayed
from solwatch.judge.series import Measured, log_ratios, rounds_by_cell, series
from solwatch.model.errors import NothingMeasuredError, RequestError
from solwatch.model.history import NoiseRow
from solwatch.model.record import Record, RecordHeader
from solwatch.stats.moments import moments
from solwatch.workspace.corpus import is_corpus
from solwatch.workspace.files import read_whole, write_atomically
from solwatch.workspace.records import read_record
from solwatch.workspace.rows import merged_rows, read_rows, write_rows

NOISE = "noise.jsonl"
"""The file, below the folder of results; asv leaves it alone, it loads what ends in ``.json``."""

MOST_ROWS = 400
"""Rows that are kept of one cell on one card, the newest: a year of nights."""

LEAST_ROUNDS = 3
"""Rounds without which a spread says nothing."""


def add_noise(path: Path, results_dir: Path) -> list[NoiseRow]:
    """Add the rows of the record (or the corpus: a calibration's rounds) in ``path``, and return them.

    One that was added before changes nothing. Raises ``RequestError`` for a record that isn't of a commit
    against itself, and ``NothingMeasuredError`` when no cell has enough rounds.
    """
    record = replayed(path) if is_corpus(path) else read_record(path)
    _require_same_sides(path, record.header)
    rows = noise_rows(record)
    if not rows:
        raise NothingMeasuredError(f"{path} has no cell with {LEAST_ROUNDS} rounds that count: nothing to keep of it")
    known = kept_noise(results_dir)
    write_atomically(results_dir / NOISE, write_rows(joined_noise(known, rows)))
    return rows


def kept_noise(results_dir: Path) -> list[NoiseRow]:
    """Return all rows; none where there is no file yet. Raises ``RequestError`` when it can't be read."""
    path = results_dir / NOISE
    if not path.exists():
        return []
    try:
        return read_rows(read_whole(path), NoiseRow)
    except ValueError as error:
        raise RequestError(f"{path}: {error}: move it away, `solwatch history pull` brings the branch's") from error


def noise_rows(record: Record) -> list[NoiseRow]:
    """Return one row for each cell and each card that it was measured on."""
    header = record.header
    fingerprint = header.fingerprint
    cards = {gpu.index: gpu.uuid for gpu in header.gpus}
    rows = []
    for key, rounds in rounds_by_cell(record).items():
        for index in dict.fromkeys(each.round.gpu for each in rounds):
            card = (cards.get(index) if index is not None else None) or fingerprint.uuid or fingerprint.model
            row = _row(header, card, key, [each for each in rounds if each.round.gpu == index])
            if row is not None:
                rows.append(row)
    return rows


def joined_noise(first: Iterable[NoiseRow], second: Iterable[NoiseRow]) -> list[NoiseRow]:
    """Return the rows of both, each once, the newest of each cell on each card."""
    found: dict[tuple[str, str], list[NoiseRow]] = {}
    for row in merged_rows(first, second, key=lambda row: (row.card, row.cell, row.taken_at)):
        found.setdefault((row.card, row.cell), []).append(row)
    return [row for rows in found.values() for row in rows[-MOST_ROWS:]]


def _require_same_sides(path: Path, header: RecordHeader) -> None:
    base, head = header.base, header.head
    same = base is not None and (base.sha, base.build) == (head.sha, head.build) and header.base_env == header.head_env
    if not same:
        raise RequestError(
            f"{path} is not of a commit against itself, only that shows noise alone: "
            "`solwatch gate HEAD HEAD --measure-all` and `solwatch calibrate` measure so"
        )


def _row(header: RecordHeader, card: str, key: str, rounds: list[Measured]) -> NoiseRow | None:
    facts = series(rounds)
    found = moments(log_ratios(facts))
    if found is None or found.spread is None or found.count < LEAST_ROUNDS:
        return None
    nulls = [each for fact in facts for each in (fact.head_null_s, fact.base_null_s) if each is not None]
    return NoiseRow(
        taken_at=header.created_at,
        machine=header.machine,
        card=card,
        model=header.fingerprint.model,
        cell=key,
        rounds=found.count,
        spread=found.spread,
        null_s=statistics.median(nulls) if nulls else None,
    )
