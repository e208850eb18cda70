"""The files of a report. Nothing here needs asv: showing a record again must not pay for importing it."""

from collections.abc import Callable
from pathlib import Path

from solwatch.judge.judgement import Judgement
from solwatch.model.record import Record
from solwatch.render.html import begin_html
from solwatch.workspace.files import write_atomically

PAGE = "index.html"

Meanwhile = Callable[[Record, Judgement], object]


def write_report(record: Record, judgement: Judgement, folder: Path, *, meanwhile: Meanwhile | None = None) -> Path:
    """Write page, JSON, Markdown, annotations and JUnit XML into ``folder``, return the page's path.

    ``meanwhile``: called while the charts are drawn. Raises ``MachineError`` where the folder can't be written.
    """
    page = begin_html(record, judgement)
    if meanwhile is not None:
        meanwhile(record, judgement)
    # At first use too while the charts are drawn.
    from solwatch.render.annotations import render_annotations
    from solwatch.render.json import render_json
    from solwatch.render.junit import render_junit
    from solwatch.render.summary import render_summary

    files = {
        "report.json": render_json(record, judgement),
        "summary.md": render_summary(record, judgement).encode(),
        "annotations.txt": render_annotations(record, judgement).encode(),
        "junit.xml": render_junit(record, judgement),
        PAGE: page().encode(),
    }
    for name, content in files.items():
        write_atomically(folder / name, content)
    return folder / PAGE


def write_pictures(record: Record, judgement: Judgement, folder: Path) -> list[Path]:
    """Write the pictures that the report has something for as PNG into ``folder``; raises ``MachineError``."""
    from solwatch.render.pictures import render_pictures

    paths = []
    for name, content in render_pictures(record, judgement).items():
        write_atomically(folder / name, content)
        paths.append(folder / name)
    return paths
