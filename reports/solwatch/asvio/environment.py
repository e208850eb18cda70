"""asv's environment without an environment: the driver's own interpreter and torch, each commit's build on its path."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from asv import util
from asv.console import log
from asv.environment import Environment

from solwatch.model.errors import BuildError, SolwatchError
from solwatch.model.plain import plain_lines

SESSION_VARIABLE = "SOLWATCH_ASV_SESSION"
"""Tells one run of asv, and the processes it forks to build in, from every other."""

RESULTS_VARIABLE = "SOLWATCH_ASV_RESULTS"
"""Tells a suite where asv keeps its results: solwatch's own rows lie beside them."""

_STATE = "solwatch-install.json"


class Provider(Protocol):
    """What an environment is handed: builds of commits, and the rule on environment variables."""

    def provide(self, commit: str, on_progress: Callable[[str], None]) -> Path:
        """Return the folder to put on ``sys.path`` for ``commit`` (a hash); raises ``SolwatchError``."""

    def allowed(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that a benchmark may see."""


class SharedEnvironment(Environment):  # type: ignore[misc]  # asv is published without types
    """Installs a commit by remembering where its build lies; a subclass names itself and makes the provider.

    asv's checkout, wheel cache, build and install commands are not used: a build is kept by its content, so one
    that is there costs no more than a look. Raises asv's ``UserError`` for what can't be had here.
    """

    def __init__(self, conf: Any, python: str, requirements: dict[str, str], tagged_env_vars: dict[Any, str]) -> None:
        """Accept the running interpreter's version only, and no requirements: nothing is installed."""
        running = f"{sys.version_info[0]}.{sys.version_info[1]}"
        if python not in (running, "same"):
            raise util.UserError(f"solwatch measures with the Python that runs asv, {running}: not with {python}")
        if requirements:
            raise util.UserError(
                f"solwatch installs nothing beside the builds: take {', '.join(requirements)} out of asv's matrix"
            )
        self._python = running
        self._requirements = requirements
        super().__init__(conf, running, requirements, tagged_env_vars)
        self._results = os.path.abspath(conf.results_dir)
        self._provider = self.make_provider(conf, self.build_env_vars)

    def make_provider(self, conf: Any, variant: Mapping[str, str]) -> Provider:
        """Return the builds of ``conf.repo``; ``variant``: the matrix's build variables.

        The plugin's class hands them in: they are the application's, which asv's files must not import.
        """
        raise NotImplementedError

    @property
    def installed_commit_hash(self) -> str | None:
        """The commit installed by this run of asv; what an earlier run left may be gone or out of date."""
        return self._state().get("commit")

    def create(self) -> None:
        """Make the folder that asv keeps its notes in."""
        os.makedirs(self._path, exist_ok=True)
        self._is_setup = True

    def install_project(self, conf: Any, repo: Any, commit_hash: str) -> None:
        """Provide the build of ``commit_hash`` and switch to it.

        A commit that doesn't build is asv's ``ProcessError``, its output shown; a machine that can't is a
        ``UserError``.
        """
        if self.installed_commit_hash != commit_hash:
            try:
                path = self._provider.provide(commit_hash, log.debug)
            except BuildError as error:
                output = plain_lines(error.output)
                log.error(f"{plain_lines(str(error))}\n{output}")
                raise util.ProcessError(["build", commit_hash], 1, output, plain_lines(str(error))) from error
            except SolwatchError as error:
                raise util.UserError(plain_lines(str(error))) from error
            self._save_state(commit_hash, path)
        self._set_commit_hash(commit_hash)

    def run(self, args: list[str], **kwargs: Any) -> Any:
        """Run the interpreter on ``args`` with the installed build first on its path."""
        log.debug(f"Running '{' '.join(args)}' in {self.name}")
        kwargs["env"] = self._variables(kwargs.get("env", os.environ))
        if kwargs.get("timeout") is None:
            kwargs["timeout"] = self._install_timeout
        return util.check_output([sys.executable, *args], **kwargs)

    def _variables(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return what a process sees: the allowed variables, the matrix's, asv's, and the way to the build."""
        variables: dict[str, str] = self._provider.allowed(given) | self.env_vars | self._global_env_vars
        path = self._state().get("path")
        if path is None:
            raise util.UserError("no commit is installed: run asv on a commit, not on this environment alone")
        # Both: asv's runner takes PYTHONPATH off sys.path unless its own variable is there, and the processes
        # that a benchmark starts only know PYTHONPATH.
        return variables | {"PYTHONPATH": path, "ASV_PYTHONPATH": path, RESULTS_VARIABLE: self._results}

    def _state(self) -> dict[str, str]:
        """Return what is installed, by way of a file: asv may install in another process than it measures in."""
        try:
            state: dict[str, str] = json.loads(Path(self._path, _STATE).read_text())
        except (OSError, ValueError):
            return {}
        return state if state.get("session") == os.environ.get(SESSION_VARIABLE) else {}

    def _save_state(self, commit: str, path: Path) -> None:
        state = {"session": os.environ.get(SESSION_VARIABLE), "commit": commit, "path": str(path)}
        self.create()
        temporary = Path(self._path, f"{_STATE}.{os.getpid()}")
        temporary.write_text(json.dumps(state))
        os.replace(temporary, Path(self._path, _STATE))
