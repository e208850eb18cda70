"""The options of the commands, and what they come to: two sides, a request, services."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from solwatch.app.session import Request, Services
    from solwatch.model.config import Config
    from solwatch.workspace.git import Repository

DEVICE = click.option(
    "--device", default="auto", show_default=True, metavar="auto|cpu|cuda|cuda:N", help="Where to measure."
)
GPUS = click.option(
    "--gpus", metavar="all|0,1", help="Spread the rounds over these GPUs of this host; both sides of a round on one."
)
SET = click.option("--set", "named_set", metavar="NAME", help="Named set of cells: standard, quick, or all.")
BENCH = click.option(
    "-b", "--bench", "patterns", multiple=True, metavar="REGEX", help="Only cells whose name matches; peers too."
)
SEED = click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Seed of data, placements and coins.")
ROUNDS = click.option("--rounds", type=click.IntRange(1, 1000), help="At most this many rounds.")
BUDGET = click.option("--budget", type=click.FloatRange(1), metavar="SECONDS", help="Wall time for measuring.")
MIN_EFFECT = click.option(
    "--min-effect", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Slowdown to catch: 0.02 is 2 %."
)
MEASURE_ALL = click.option(
    "--measure-all", is_flag=True, help="Measure all cells, those too for which nothing that runs has changed."
)
GITHUB = click.option(
    "--github", is_flag=True, help="In a step of GitHub Actions: add the summary to the job's, print annotations."
)
ENVIRONMENT = click.Path(path_type=Path)
SUITE = click.option("--suite", metavar="FOLDER", help="Folder of the suite, in place of the setting benchmarks.")
BUILDS = click.option(
    "--builds", type=click.Path(path_type=Path), metavar="FOLDER", help="Take builds from here: see `solwatch build`."
)


def measuring(function: "Callable[..., Any]") -> "Callable[..., Any]":
    """Give a command the options of all that measure."""
    for option in (SUITE, MIN_EFFECT, BUDGET, ROUNDS, SEED, BENCH, SET, GPUS, DEVICE):
        function = option(function)
    return function


def two_sides(function: "Callable[..., Any]") -> "Callable[..., Any]":
    """Let a command take what ``sides_of`` reads: two commits, or one in two environments."""
    for name in ("head", "base"):
        said = f"Virtual environment to measure as {name}."
        function = click.option(f"--{name}-env", type=ENVIRONMENT, metavar="PATH", help=said)(function)
    function = click.option("--working-tree", is_flag=True, help="Measure the files as they are now as head.")(function)
    for name in ("head", "base"):
        function = click.argument(name, required=False)(function)
    return function


def sides_of(
    base: str | None, head: str | None, working_tree: bool, options: dict[str, Any], *, pinned: bool = False
) -> tuple[str | None, str | None]:
    """Return base and head as asked: no base with two environments or a pinned one, no head for the working tree."""
    if pinned:
        if options["base_env"] or options["head_env"]:
            raise click.UsageError("--reference compares two commits: leave out --base-env and --head-env")
        if head is not None:
            raise click.UsageError(f"--reference is the base: leave out BASE ({base!r})")
        base, head = None, base
    elif options["base_env"] or options["head_env"]:
        if not (options["base_env"] and options["head_env"]):
            raise click.UsageError("--base-env and --head-env go together: give both environments")
        if head is not None:
            raise click.UsageError(f"two environments are compared at one commit: leave out BASE ({base!r})")
        base, head = None, base
    elif base is None:
        raise click.MissingParameter(ctx=click.get_current_context(), param_hint="'BASE'", param_type="argument")
    head = head or "HEAD"
    if working_tree and head != "HEAD":
        raise click.UsageError(f"--working-tree measures the files as they are: it goes without a HEAD ({head!r})")
    return base, None if working_tree else head


def request_of(base: str | None, head: str | None, config: "Config", options: dict[str, Any]) -> "Request":
    """Return what the options ask for."""
    from solwatch.app.session import Request
    from solwatch.model.cell import CellSelection

    return Request(
        command=command_line(),
        head=head,
        base=base,
        device=options["device"],
        gpus=options.get("gpus"),
        builds=options.get("builds"),
        selection=CellSelection(options["named_set"] or config.cell_set, tuple(options["patterns"])),
        config=config,
        seed=options["seed"],
        rounds=options.get("rounds"),
        head_env=options.get("head_env"),
        base_env=options.get("base_env"),
        measure_all=options.get("measure_all", False),
    )


def command_line() -> str:
    """Return the command as it was typed."""
    return shlex.join(["solwatch", *sys.argv[1:]])


def services_of(options: dict[str, Any]) -> "tuple[Services, Config]":
    """Return what a plot is handed, and the settings with the options on top."""
    from solwatch.workspace.git import Repository
    from solwatch.workspace.settings import load_config

    repository = Repository.open(Path.cwd())
    asked = {
        "min_effect": options.get("min_effect"),
        "budget_s": options["budget"],
        "undecided": options.get("undecided"),
        "benchmarks": options.get("suite"),
    }
    config = load_config(repository.root, {name: value for name, value in asked.items() if value is not None})
    return services_in(repository), config


def services_in(repository: "Repository") -> "Services":
    """Return what a plot in ``repository`` is handed."""
    import os

    from solwatch.app.clock import SystemClock
    from solwatch.app.session import Services
    from solwatch.asvio.machine import machine_info
    from solwatch.cli.showing import say
    from solwatch.render.progress import Progress

    return Services(
        repository=repository,
        clock=SystemClock(),
        environment=dict(os.environ),
        machine=machine_info()["machine"],
        say=say,
        progress=Progress.open,
    )
