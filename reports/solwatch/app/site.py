"""The plot of ``site``: pages of gates that are missing, asv's site with the speed-of-light page, its libraries."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from solwatch.app.gate_pages import complete_pages
from solwatch.asvio.offline import put_beside
from solwatch.asvio.publishing import html_folder, publish
from solwatch.model.errors import NothingMeasuredError
from solwatch.workspace.git import Repository
from solwatch.workspace.npm import Packages
from solwatch.workspace.settings import load_config


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where it lies, and which of the libraries it still loads from elsewhere although it shouldn't."""

    html: Path
    missing: list[str]


def make_site(repository: Repository, *, offline: bool, say: Callable[[str], None]) -> Site:
    """Publish the results of the repository; raises ``NothingMeasuredError`` when it has none.

    ``offline``: put the libraries that asv's pages load from other hosts beside them.
    """
    root = repository.root
    config = load_config(root)
    html = html_folder(root)
    if not (root / config.results / "benchmarks.json").exists():
        raise NothingMeasuredError(
            f"{root / config.results} has no results: `solwatch gate BASE HEAD` and `asv run` leave some there, "
            "`solwatch history pull` brings the branch's"
        )
    complete_pages(root / config.records, say)
    publish(root)
    return Site(html=html, missing=_libraries(html) if offline else [])


def _libraries(html: Path) -> list[str]:
    packages = Packages(Path(os.path.expanduser("~/.solwatch/libraries")))
    return put_beside(html, lambda library: packages.file(library.package, library.path, library.sha256))
