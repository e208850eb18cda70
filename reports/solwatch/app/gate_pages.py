"""The pages of gate runs, kept for the site: one beside each record, with the line that the site shows of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from solwatch.judge.judgement import Judgement
from solwatch.judge.judging import judge
from solwatch.model.errors import SolwatchError
from solwatch.model.history import GateRun
from solwatch.model.record import Record
from solwatch.render.headline import headline
from solwatch.render.html import render_html
from solwatch.workspace.files import read_whole, write_atomically
from solwatch.workspace.records import read_record

FOLDER = "pages"
RECORDS = "records"
"""Folders below ``Config.records``."""

MOST_PAGES = 200
"""Pages that the site takes, the newest: hosts of static sites have a limit (1 GB on GitHub)."""


def keep_page(record: Record, judgement: Judgement, page: bytes, folder: Path, name: str) -> None:
    """Keep the page of a record and what the site says of it under ``name``; raises ``MachineError``."""
    header, verdict = record.header, headline(record, judgement)
    run = GateRun(
        page=f"{name}.html",
        created_at=header.created_at,
        machine=header.machine,
        model=header.fingerprint.model,
        base=header.base.sha if header.base else None,
        head=header.head.sha,
        state=verdict.state,
        verdict=verdict.text,
    )
    write_atomically(folder / f"{name}.html", page)
    write_atomically(folder / f"{name}.json", msgspec.json.encode(run))  # last: what it names is there


def complete_pages(records: Path, say: Callable[[str], None]) -> int:
    """Make the pages that the newest records lack; return how many. ``say`` hears of records that can't be shown."""
    made = 0
    for path in sorted((records / RECORDS).glob("*.jsonl"), reverse=True)[:MOST_PAGES]:
        if (records / FOLDER / f"{path.stem}.json").exists():
            continue
        try:
            record = read_record(path)
            if record.rounds:
                judgement = judge(record)
                page = render_html(record, judgement).encode()
                keep_page(record, judgement, page, records / FOLDER, path.stem)
                made += 1
        except SolwatchError as error:
            say(f"warning: no page for {path.name}: {error}")
    return made


def kept_pages(records: Path) -> Iterator[tuple[GateRun, Path]]:
    """Yield the newest runs with a page, newest first; what isn't ours in the folder is left out."""
    for path in sorted((records / FOLDER).glob("*.json"), reverse=True)[:MOST_PAGES]:
        try:
            run = msgspec.json.decode(read_whole(path), type=GateRun)
        except (SolwatchError, msgspec.DecodeError, RecursionError):
            continue
        page = path.with_suffix(".html")
        if run.page == page.name and page.is_file():
            yield run, page
