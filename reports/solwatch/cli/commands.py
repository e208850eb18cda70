"""The commands and their options; each hands a request to the application and shows what came back."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from solwatch.model.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from solwatch.app.outcome import Outcome
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


def _two_sides(function: "Callable[..., Any]") -> "Callable[..., Any]":
    """Let a command take what ``_sides`` reads: two commits, or one in two environments."""
    for name in ("head", "base"):
        said = f"Virtual environment to measure as {name}."
        function = click.option(f"--{name}-env", type=ENVIRONMENT, metavar="PATH", help=said)(function)
    function = click.option("--working-tree", is_flag=True, help="Measure the files as they are now as head.")(function)
    for name in ("head", "base"):
        function = click.argument(name, required=False)(function)
    return function


@click.command()
@_two_sides
@BUILDS
@click.option("--reference", "pinned", is_flag=True, help="Measure against the pinned reference, in BASE's place.")
@click.option("--undecided", type=click.Choice(["pass", "fail"]), help="What an undecided cell does.")
@MEASURE_ALL
@GITHUB
@measuring
def gate(
    base: str | None,
    head: str | None,
    working_tree: bool,
    pinned: bool,
    undecided: str | None,
    github: bool,
    **options: Any,
) -> int:
    """Measure HEAD (by default HEAD) against BASE in rounds of fresh processes and say whether it is slower.

    With --base-env and --head-env: one commit (by default HEAD) in two virtual environments, and no BASE. With
    --reference BASE is the commit that the setting reference pins.
    """
    from solwatch.cli.github import require_step, tell_github
    from solwatch.cli.showing import show

    base, head = _sides(base, head, working_tree, options, pinned=pinned)
    if github:
        require_step()
    outcome = _compared(base, head, pinned=pinned, undecided=undecided, **options)
    if github:
        tell_github(outcome)
    return show(outcome)


@click.command()
@click.argument("commit", default="HEAD")
@click.option("--working-tree", is_flag=True, help="Measure the files as they are now.")
@BUILDS
@click.option("--env", "head_env", type=ENVIRONMENT, metavar="PATH", help="Virtual environment to measure in.")
@measuring
def run(commit: str, working_tree: bool, **options: Any) -> int:
    """Measure COMMIT alone: times, speed-of-light scores, energy."""
    if working_tree and commit != "HEAD":
        raise click.UsageError(f"--working-tree measures the files as they are: it goes without a COMMIT ({commit!r})")
    return _compare(None, None if working_tree else commit, **options)


@click.command()
@MEASURE_ALL
@measuring
def bench(**options: Any) -> int:
    """Measure HEAD against its parent, quick set; HEAD alone on a first commit."""
    from solwatch.workspace.git import Repository

    repository = Repository.open(Path.cwd())
    parent = repository.parent(repository.resolve("HEAD"))
    if parent is None:
        click.echo("HEAD is the first commit: it is measured alone, there is nothing to compare it with", err=True)
    options["named_set"] = options["named_set"] or "quick"
    return _compare(parent.sha if parent else None, "HEAD", **options)


@click.command()
@click.argument("record", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for the page, JSON, Markdown.")
@click.option("--png", is_flag=True, help="Write roofline and forest plot as PNG beside the page.")
@GITHUB
def report(record: Path | None, output: Path | None, png: bool, github: bool) -> int:
    """Judge a RECORD again (the newest by default), show it and write its page."""
    from solwatch.render.charts.drawing import warm_up

    warm_up()  # beside importing the rest, reading and judging
    from solwatch.app.reporting import newest_record, reported
    from solwatch.cli.github import require_step, tell_github
    from solwatch.cli.showing import show
    from solwatch.workspace.git import Repository
    from solwatch.workspace.settings import load_config

    if github:
        require_step()
    if record is None or output is None:
        root = Repository.open(Path.cwd()).root
        config = load_config(root, {})
        record = record or newest_record(root / config.records)
        output = output or root / config.report
    outcome = reported(record, output, png=png)
    if github:
        tell_github(outcome)
    return show(outcome)


@click.command()
@_two_sides
@click.option("--rounds", type=click.IntRange(1, 100_000), required=True, help="Rounds that the file shall have.")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="File, continued where it ended."
)
@click.option("--label", default="", metavar="TEXT", help="What the pair is, kept in the file: 'a/a', 'planted 1 %'.")
@click.option("--occasion", default="", metavar="TEXT", help="When and where this is, kept in the file.")
@DEVICE
@SET
@BENCH
@SEED
@BUDGET
def record(
    base: str | None,
    head: str | None,
    working_tree: bool,
    output: Path,
    label: str,
    occasion: str,
    **options: Any,
) -> int:
    """Measure HEAD (by default HEAD) against BASE as gate does, judge nothing, and keep the raw rounds in a file."""
    from solwatch.app.recording import Recording
    from solwatch.app.recording import record as recorded
    from solwatch.cli.showing import print_result
    from solwatch.render.recorded import render_recorded

    base, head = _sides(base, head, working_tree, options)
    services, config = services_of(options)
    asked = Recording(
        request=request_of(base, head, config, options),
        rounds=options["rounds"],
        path=output,
        label=label,
        occasion=occasion,
        budget_s=options["budget"],
    )
    done = recorded(asked, services)
    print_result(
        render_recorded(
            str(output), done.rounds, done.wanted, cells=done.cells, size_bytes=done.size_bytes, wall_s=done.wall_s
        )
    )
    return 0


@click.command()
@DEVICE
@click.option("--dtype", "dtypes", multiple=True, default=("bfloat16", "float16", "float32"), show_default=True)
def ceilings(device: str, dtypes: tuple[str, ...]) -> int:
    """Show the device's limits: rated by its clocks and widths, and sustained as measured now.

    A device without rated ones (a CPU) keeps those measured here for its scores, in place of the earlier ones.
    """
    from solwatch.app.ceilings import measured_ceilings
    from solwatch.cli.showing import print_result, say
    from solwatch.render.ceilings import render_ceilings

    fingerprint, limits, kept = measured_ceilings(device, list(dtypes))
    print_result(render_ceilings(fingerprint, limits))
    if kept:
        say("kept: from now on the scores of this device rest on these ceilings")
    return 0


@click.command()
@click.argument("commit", default="HEAD")
@click.option("--rounds", type=click.IntRange(8, 1000), default=20, show_default=True, help="Rounds to measure.")
@click.option(
    "--rounds-of",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Measure nothing: take these rounds of one build against itself.",
)
@DEVICE
@SET
@BENCH
@SEED
@BUDGET
def calibrate(commit: str, rounds: int, rounds_of: Path | None, **options: Any) -> int:
    """Measure COMMIT against itself and say what min effect each cell can honestly hold on this machine."""
    from solwatch.app.calibrating import calibrate as calibrated
    from solwatch.app.calibrating import calibrate_from
    from solwatch.cli.showing import print_result, say, terminal_width
    from solwatch.render.calibration import IN_OWN_FILE, IN_PROJECT, render_calibration

    if rounds_of is not None and commit != "HEAD":
        raise click.UsageError(f"--rounds-of measures nothing: it goes without a COMMIT ({commit!r})")
    if rounds_of is not None:
        done, table = calibrate_from(rounds_of), IN_PROJECT
    else:
        services, config = services_of(options)
        done = calibrated(
            request_of(commit, commit, config, options), services, rounds=rounds, budget_s=options["budget"]
        )
        table = IN_OWN_FILE if (services.repository.root / "solwatch.toml").exists() else IN_PROJECT
    print_result(render_calibration(done.calibration, table=table, width=terminal_width()))
    say(f"rounds: {done.rounds_path}")
    say(f"calibration: {done.path}")
    return ExitCode.OK


@click.command()
@DEVICE
@SEED
@click.option(
    "--budget", "budget_s", type=click.FloatRange(1), metavar="SECONDS", help="Wall time for measuring, both gates."
)
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for JSON, records and pages.")
def selftest(device: str, seed: int | None, budget_s: float | None, output: Path | None) -> int:
    """Check that a gate on this machine can be trusted: equal builds, then slowdowns of known sizes.

    Needs no repository. Exits with 0 when all is as it must be, 3 when something is not, 4 when a size is left open.
    """
    from solwatch.app.selftest import Asked
    from solwatch.app.selftest import selftest as tested
    from solwatch.cli.showing import print_result, terminal_width
    from solwatch.render.selftest import render_selftest

    asked = Asked(command=_command(), device=device, seed=seed, budget_s=budget_s, output=output)
    found = tested(asked, _services_in)
    print_result(render_selftest(found, width=terminal_width()))
    return int(found.exit_code)


@click.command()
@click.argument("commit", required=False)
@DEVICE
@BUILDS
def doctor(commit: str | None, device: str, builds: Path | None) -> int:
    """Check what measuring needs: GPU, driver, toolkit, torch, the op, NVML, git; each with its fix.

    The op is that of COMMIT, by default of the working tree. With --builds it is taken from there (by default that of
    HEAD), and no compiler is needed.
    """
    from solwatch.app.examination import examine
    from solwatch.cli.showing import print_result, say
    from solwatch.render.doctor import render_findings

    findings = examine(Path.cwd(), device, say, commit=commit, builds=builds)
    print_result(render_findings(findings))
    return ExitCode.UNTRUSTED if any(finding.status == "fail" for finding in findings) else ExitCode.OK


def _sides(
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


def _compare(base: str | None, head: str | None, **options: Any) -> int:
    from solwatch.cli.showing import show

    return show(_compared(base, head, **options))


def _compared(base: str | None, head: str | None, *, pinned: bool = False, **options: Any) -> "Outcome":
    from solwatch.app.gate import compare

    services, config = services_of(options)
    request = request_of(base, head, config, options)
    if pinned:
        from solwatch.app.reference import against_reference

        request = against_reference(request, services)
    return compare(request, services)


def request_of(base: str | None, head: str | None, config: "Config", options: dict[str, Any]) -> "Request":
    """Return what the options ask for."""
    from solwatch.app.session import Request
    from solwatch.model.cell import CellSelection

    return Request(
        command=_command(),
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


def _command() -> str:
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
    return _services_in(repository), config


def _services_in(repository: "Repository") -> "Services":
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
