"""asv's plugin: ``"plugins": [".solwatch.asv_plugin"]`` (with the dot), ``"environment_type": "solwatch"``.

Loading it also makes ``~/.asv-machine.json`` when it is missing, and adds the speed-of-light page to
``asv publish``.
"""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from asv.console import log
from asv.publishing import OutputPublisher
from asv.util import UserError

from solwatch.app.builds import builder_for
from solwatch.app.site_data import charts_script, site_data
from solwatch.asvio.environment import SESSION_VARIABLE, Provider, SharedEnvironment
from solwatch.asvio.machine import machine_info
from solwatch.asvio.publisher import PAGE, PageData, publish_page, subjects_by_revision
from solwatch.asvio.scores import cards
from solwatch.device.resolving import visible_gpus
from solwatch.model.errors import SolwatchError
from solwatch.model.plain import plain, plain_lines
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import load_config
from solwatch.workspace.toolchain import allowed

__all__ = ["SolwatchEnvironment", "SpeedOfLight", "setup"]


class CommitBuilds:
    """The builds that the gate uses too, for asv."""

    def __init__(self, root: Path, variant: Mapping[str, str]) -> None:
        """Read the settings of the repository at ``root``; raises ``SolwatchError``."""
        self._repository = Repository.open(root)
        config = load_config(self._repository.root)
        self._globs = config.environment
        device_type = "cuda" if visible_gpus() else "cpu"
        self._builder = builder_for(self._repository, config, device_type, os.environ, variant)

    def provide(self, commit: str, on_progress: Callable[[str], None]) -> Path:
        """Return the folder with the build of ``commit``."""
        return self._builder.provide(self._repository.resolve(commit), on_progress).path

    def allowed(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables on the configured list."""
        return allowed(environment, self._globs)


class SolwatchEnvironment(SharedEnvironment):
    """``"environment_type": "solwatch"``: this interpreter, this torch, and the commit's own build."""

    tool_name = "solwatch"

    def make_provider(self, conf: Any, variant: Mapping[str, str]) -> Provider:
        """Return the builds of the repository that asv.conf.json names, which must be here on disk."""
        if not Path(conf.repo).is_dir():
            raise UserError(f'"repo" is {conf.repo!r}: solwatch builds from a clone on this disk, give its folder')
        try:
            return CommitBuilds(Path(conf.repo), variant)
        except SolwatchError as error:
            raise UserError(plain_lines(str(error))) from error


class SpeedOfLight(OutputPublisher):  # type: ignore[misc]  # asv is published without types
    """Adds the page to what ``asv publish`` writes; asv finds this class by its base."""

    name = PAGE
    button_label = "Speed of light"
    description = "How far each kernel is from the limit of its hardware"
    order = 2

    @classmethod
    def publish(cls, conf: Any, repo: Any, benchmarks: Any, graphs: Any, revisions: Mapping[str, int]) -> None:
        """Write the page into ``conf.html_dir``; ``graphs`` are asv's own, ``revisions`` its numbers of commits."""
        told = site_data(Path(conf.repo), Path(conf.results_dir), revisions, lambda line: log.warning(plain(line)))
        shown = cards(graphs, benchmarks, told.limits)
        data = PageData(
            cards=shown,
            subjects=subjects_by_revision(told.subjects, revisions),
            runs=[run for run, _ in told.runs],
        )
        publish_page(Path(conf.html_dir), data, [page for _, page in told.runs], charts_script())


def setup() -> None:
    """Prepare one run of asv; asv calls this when it has loaded the plugin."""
    os.environ.setdefault(SESSION_VARIABLE, f"{os.getpid()}-{time.time_ns()}")
    try:
        machine_info()
    except SolwatchError as error:
        raise UserError(plain_lines(str(error))) from error
