"""``solwatch ci``: the steps of a pipeline, which run on a terminal too. What is compared, and one entry's gate."""

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from solwatch.cli.ci_options import FILE, FOLDER_OR_ZIP, GITHUB, entry_name, write_json
from solwatch.cli.ending import ending
from solwatch.cli.fleet import checked
from solwatch.cli.options import BUILDS, MEASURE_ALL, SUITE, measuring, request_of, services_of
from solwatch.model.errors import ExitCode

if TYPE_CHECKING:
    from solwatch.app.session import Request, Services
    from solwatch.model.entry_verdict import EntryVerdict

VERDICT = Path("build/verdict.json")


@click.group()
def ci() -> None:
    """Plan, gate, join verdicts and write the comment: what the workflows call, on a terminal too."""


@ci.command()
@click.argument("base", required=False)
@click.argument("head", required=False)
@click.option("--event", "name", envvar="GITHUB_EVENT_NAME", show_envvar=True, help="The event's name.")
@click.option("--event-file", type=FILE, envvar="GITHUB_EVENT_PATH", show_envvar=True, help="The event as JSON.")
@click.option("--reference", is_flag=True, help="HEAD against the pinned reference, in an event's or BASE's place.")
@click.option("--output", type=FILE, metavar="FILE", help="Write the plan as JSON, for 'solwatch ci verdict'.")
@SUITE
@GITHUB
def plan(
    base: str | None,
    head: str | None,
    name: str | None,
    event_file: Path | None,
    reference: bool,
    output: Path | None,
    suite: str | None,
    github: bool,
) -> int:
    """Say which two commits an event compares, and whether anything that can change a time has changed.

    With BASE: those commits (HEAD is the default of HEAD), whatever the event. With --reference nothing is needed where
    the setting reference pins none.
    """
    from solwatch.app.planning import planned, planned_against_reference, planned_between, read_event
    from solwatch.asvio.machine import machine_info
    from solwatch.cli.showing import print_result
    from solwatch.model.ci_event import Event
    from solwatch.render.ci_plan import plan_outputs, render_plan
    from solwatch.workspace.git import Repository
    from solwatch.workspace.github_files import set_outputs
    from solwatch.workspace.settings import load_config

    repository = Repository.open(Path.cwd())
    config = load_config(repository.root, {"benchmarks": suite})
    if reference:
        if base is not None:
            raise click.UsageError(f"--reference is the base: leave out BASE ({base!r})")
        made = planned_against_reference(repository, config, machine_info()["machine"])
    elif base is not None:
        made = planned_between(repository, config, base, head or "HEAD")
    elif name is None:
        raise click.UsageError("give BASE, or the event that asks: --event NAME --event-file FILE")
    else:
        made = planned(repository, config, name, read_event(event_file) if event_file else Event())
    if output is not None:
        write_json(output, made)
    if github:
        set_outputs(os.environ, plan_outputs(made))
    print_result(render_plan(made))
    return 0


@ci.command()
@click.argument("base")
@click.argument("head", default="HEAD")
@click.option("--entry", default="gate", show_default=True, metavar="NAME", callback=entry_name, help="Fleet entry.")
@click.option("--trial", type=click.IntRange(1, 100), default=1, show_default=True, help="1 the gate, 2 its retry.")
@click.option("--run", type=click.IntRange(1, 10**15), envvar="GITHUB_RUN_ID", show_envvar=True, help="Workflow's run.")
@click.option(
    "--attempt",
    type=click.IntRange(1, 10_000),
    default=1,
    envvar="GITHUB_RUN_ATTEMPT",
    show_envvar=True,
    help="Attempt of that run.",
)
@click.option("--reuse", type=FOLDER_OR_ZIP, multiple=True, help="Verdicts of earlier runs, only of trusted ones.")
@click.option("--fleet", type=FILE, metavar="FILE", help="Check first that this machine is the entry of this fleet.")
@click.option("--verdict", "path", type=FILE, default=VERDICT, show_default=True, metavar="FILE", help="The file.")
@click.option("--undecided", type=click.Choice(["pass", "fail"]), help="What an undecided cell does.")
@BUILDS
@MEASURE_ALL
@GITHUB
@measuring
def gate(
    base: str,
    head: str,
    entry: str,
    trial: int,
    run: int | None,
    attempt: int,
    reuse: tuple[Path, ...],
    fleet: Path | None,
    path: Path,
    github: bool,
    **options: Any,
) -> int:
    """Gate HEAD against BASE, write its exit code and verdict to a file, and end with 0 so that it is kept.

    Ends with 3 when that file can't be written, and with 130 when interrupted.
    """
    from solwatch.app.clock import SystemClock
    from solwatch.app.entry_gate import Place, ended, located, opened, reused
    from solwatch.cli.github import annotate, require_step
    from solwatch.cli.showing import say

    if github:
        require_step()
    place = Place(entry=entry, host=platform.node(), run=str(run) if run else None, attempt=attempt, trial=trial)
    verdict = opened(place, SystemClock().now())
    write_json(path, verdict)  # what a job leaves that is ended from outside
    try:
        if fleet is not None:
            say(checked(fleet, entry))
        services, config = services_of(options)
        request = request_of(base, head, config, options)
        verdict = located(verdict, request, services)
        verdict = reused(verdict, request, services, reuse) or _gated(verdict, request, services, github)
    except (Exception, KeyboardInterrupt) as error:
        said, code = ending(error)
        say(f"solwatch: {said}")
        verdict = ended(verdict, code, said.splitlines()[0] if said else type(error).__name__)
        if github:
            annotate(verdict)
    write_json(path, verdict)
    say(f"verdict: {path}: {verdict.word} (exit code {verdict.code})")
    return ExitCode.INTERRUPTED if verdict.code == int(ExitCode.INTERRUPTED) else ExitCode.OK


def _gated(verdict: "EntryVerdict", request: "Request", services: "Services", github: bool) -> "EntryVerdict":
    from solwatch.app.entry_gate import judged
    from solwatch.app.gate import compare
    from solwatch.cli.github import tell_github
    from solwatch.cli.showing import show

    outcome = compare(request, services)
    if github:
        tell_github(outcome)
    return judged(verdict, outcome, show(outcome))
