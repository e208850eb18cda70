"""The site's "Speed of light" page: written into what ``asv publish`` has made, and entered into its navigation."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from asv.util import UserError

from solwatch.asvio.scores import Card
from solwatch.model.history import GateRun

PAGE = "speedoflight"
"""Name of the page: the part of its address behind ``#/``."""

RUNS = "gates"
"""Folder of the site with the pages of gate runs."""

_SITE = Path(__file__).with_name("site")
_NAVIGATION = '<li id="nav-li-graphdisplay">'
_BODY = '<div id="graph-display"'
_HEAD = "</head>"


class PageData(msgspec.Struct, frozen=True, kw_only=True):
    """What the page shows. ``subjects``: subject and author by revision. ``runs``: the newest first."""

    cards: list[Card]
    subjects: dict[int, tuple[str, str]]
    runs: list[GateRun]


def publish_page(html: Path, data: PageData, pages: Sequence[Path], charts: bytes) -> None:
    """Write data, scripts and the ``pages`` of ``data.runs`` into ``html`` and enter the page into index.html.

    ``charts``: the module that draws the charts. Raises asv's ``UserError`` when index.html isn't of the form that
    this was written for; nothing is written then.
    """
    index = html / "index.html"
    entered = _entered(index.read_text(encoding="utf-8"))
    (html / f"{PAGE}.json").write_bytes(msgspec.json.encode(data))
    (html / f"{PAGE}-vega.js").write_bytes(charts)
    for source in sorted(_SITE.iterdir()):
        shutil.copyfile(source, html / source.name)
    (html / RUNS).mkdir(exist_ok=True)
    for page in pages:
        shutil.copyfile(page, html / RUNS / page.name)
    index.write_text(entered, encoding="utf-8")


def subjects_by_revision(
    subjects: Mapping[str, tuple[str, str]], revisions: Mapping[str, int]
) -> dict[int, tuple[str, str]]:
    """Return subject and author of each commit by asv's number of it."""
    return {revisions[commit]: told for commit, told in subjects.items() if commit in revisions}


def _entered(page: str) -> str:
    """Return index.html with the page's entry, place and script."""
    additions = {
        _NAVIGATION: f'<li id="nav-li-{PAGE}"><a href="#/{PAGE}">Speed of light</a></li>\n        ',
        _BODY: f'<div id="{PAGE}-display" class="{PAGE}" style="display: none"></div>\n    ',
        _HEAD: "".join(f'  <script src="{name}"></script>\n  ' for name in SCRIPTS)
        + f'  <link href="{PAGE}.css" rel="stylesheet">\n  ',
    }
    for mark, addition in additions.items():
        if page.count(mark) != 1:
            raise UserError(f"the speed-of-light page can't be entered: asv's index.html has no single {mark!r}")
        page = page.replace(mark, addition + mark)
    return page


SCRIPTS = sorted(path.name for path in _SITE.glob("*.js"))
"""The page's own scripts; each is a part of its own, so that their order is free."""
