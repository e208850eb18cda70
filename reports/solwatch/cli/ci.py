"""``solwatch ci``: the steps of a pipeline, which run on a terminal too."""

import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from solwatch.cli.ending import ending
from solwatch.cli.fleet import checked
from solwatch.cli.options import BUILDS, MEASURE_ALL, SUITE, measuring, request_of, services_of
from solwatch.model.errors import ExitCode

if TYPE_CHECKING:
    import msgspec

    from solwatch.app.session import Request, Services
    from solwatch.model.entry_verdict import EntryVerdict
    from solwatch.model.joint_verdict import BuildResult

BUILD_CODES: dict[str, "BuildResult"] = {"0": "success", "1": "head", "2": "refused", "3": "base"}
BUILD_WORDS = ("success", "failure", "cancelled", "skipped")
VERDICT = Path("build/verdict.json")
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER_OR_ZIP = click.Path(path_type=Path)
GITHUB = click.option("--github", is_flag=True, help="In a step of GitHub Actions: hand outputs and summary to it.")


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
        _write(output, made)
    if github:
        set_outputs(os.environ, plan_outputs(made))
    print_result(render_plan(made))
    return 0


def _entry_name(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    for name in [value] if isinstance(value, str) else value:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise click.BadParameter(f"{name!r}: allowed are up to 64 letters, digits, dots, hyphens and underscores")
    return value


def address(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if value and not re.fullmatch(r"https://[A-Za-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9._-]+)*", value):
        raise click.BadParameter(f"{value!r}: allowed is https://host/path of letters, digits, dots and hyphens")
    return value


@ci.command()
@click.argument("base")
@click.argument("head", default="HEAD")
@click.option("--entry", default="gate", show_default=True, metavar="NAME", callback=_entry_name, help="Fleet entry.")
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
    _write(path, verdict)  # what a job leaves that is ended from outside
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
    _write(path, verdict)
    say(f"verdict: {path}: {verdict.word} (exit code {verdict.code})")
    return ExitCode.INTERRUPTED if verdict.code == int(ExitCode.INTERRUPTED) else ExitCode.OK


def _build_result(context: click.Context, parameter: click.Parameter, value: str) -> "BuildResult":
    """Return how the build ended; a code that is none of solwatch's is that of a shell or a signal (137: memory)."""
    if value in BUILD_WORDS:
        return cast("BuildResult", value)
    if not re.fullmatch(r"[0-9]{1,3}", value):
        raise click.BadParameter(f"{value!r}: allowed are an exit code and {', '.join(BUILD_WORDS)}")
    return BUILD_CODES.get(value, "failure")


SOURCES = click.argument("sources", nargs=-1, required=True, type=FOLDER_OR_ZIP, metavar="FOLDER...")
MATRIX = click.option("--matrix", metavar="JSON", help="What 'solwatch fleet matrix' gave: every entry must have said.")


@ci.command()
@SOURCES
@MATRIX
@click.option("--entry", "entries", multiple=True, metavar="NAME", callback=_entry_name, help="The same, by name.")
@click.option("--plan", "plan_text", metavar="JSON", help="Output 'plan' of 'solwatch ci plan'.")
@click.option(
    "--build-result",
    default="success",
    show_default=True,
    metavar="CODE|WORD",
    callback=_build_result,
    help="How the build ended: the exit code of 'solwatch build', or the job's result.",
)
@click.option(
    "--unmeasured",
    type=click.Choice(["pass", "fail"]),
    default="fail",
    show_default=True,
    help="What codes 3 and 4, which say nothing of the change, do: pass ends with 0, and says so.",
)
@click.option("--output", type=FILE, metavar="FILE", help="Write the joint verdict as JSON, for 'solwatch ci comment'.")
@GITHUB
def verdict(
    sources: tuple[Path, ...],
    matrix: str | None,
    entries: tuple[str, ...],
    plan_text: str | None,
    build_result: "BuildResult",
    unmeasured: str,
    output: Path | None,
    github: bool,
) -> int:
    """Join what all entries of the fleet and their retries said (verdict.json below FOLDERs) into one exit code."""
    from solwatch.app.handed_over import jobs_of, plan_from, verdicts_in
    from solwatch.app.joining import joined
    from solwatch.cli.github import require_step, tell_joint
    from solwatch.cli.showing import print_result, say
    from solwatch.model.plain import without_commands
    from solwatch.render.joint import render_joint_line

    if github:
        require_step()
    planned = plan_from(plan_text) if plan_text is not None else None
    jobs = jobs_of(matrix) if matrix is not None else None
    doubts = [f"{planned.where}: {planned.problem}"] if planned and planned.problem else []
    if jobs == {}:
        doubts.append("the matrix names no entry of the fleet")
    joint = joined(
        verdicts_in(sources),
        entries=[*entries, *(jobs or ())],
        plan=planned.value if planned else None,
        build=build_result,
        doubts=doubts,
    )
    if output is not None:
        _write(output, joint)
    if github:
        tell_joint(joint)
    print_result(without_commands(render_joint_line(joint)))
    if unmeasured == "pass" and joint.code in (ExitCode.UNTRUSTED, ExitCode.UNDECIDED):
        say(f"exit code {joint.code} says nothing of the change: it passes unmeasured (--unmeasured=pass)")
        return ExitCode.OK
    return joint.code


@ci.command()
@SOURCES
@click.option("--matrix", required=True, metavar="JSON", help="What 'solwatch fleet matrix' gave.")
@GITHUB
def retry(sources: tuple[Path, ...], matrix: str, github: bool) -> int:
    """Print the matrix of the entries that a second trial may help: exit code 3 or 4, or no verdict at all."""
    from solwatch.app.handed_over import jobs_of, matrix_of, verdicts_in
    from solwatch.app.joining import joined, to_retry
    from solwatch.cli.showing import print_result
    from solwatch.workspace.github_files import set_outputs

    jobs = jobs_of(matrix)
    names = to_retry(joined(verdicts_in(sources), entries=list(jobs)))
    left = matrix_of([job for name, job in jobs.items() if name in names])
    if github:
        set_outputs(os.environ, {"matrix": left, "needed": "true" if names else "false"})
    print_result(left)
    return 0


@ci.command()
@click.argument("source", type=FOLDER_OR_ZIP)
@click.option("--head", metavar="SHA", help="The commit that the verdict must be of, from the event.")
@click.option("--run-url", default="", metavar="URL", callback=address, help="Where the reports are, from the event.")
@click.option("--output", type=FILE, metavar="FILE", help="Write the comment there.")
def comment(source: Path, head: str | None, run_url: str, output: Path | None) -> int:
    """Print the pull request's comment from SOURCE, a folder or zip with joint.json that is taken for hostile.

    Which pull request it belongs to is for the caller to know, never for SOURCE.
    """
    from solwatch.app.handed_over import joint_in
    from solwatch.cli.showing import print_result
    from solwatch.model.plain import without_commands
    from solwatch.render.joint import render_comment
    from solwatch.workspace.files import write_atomically

    text = render_comment(joint_in(source, head), run_url=run_url)
    if output is not None:
        write_atomically(output, text.encode())
    print_result(without_commands(text).rstrip("\n"))
    return 0


def _gated(verdict: "EntryVerdict", request: "Request", services: "Services", github: bool) -> "EntryVerdict":
    from solwatch.app.entry_gate import judged
    from solwatch.app.gate import compare
    from solwatch.cli.github import tell_github
    from solwatch.cli.showing import show

    outcome = compare(request, services)
    if github:
        tell_github(outcome)
    return judged(verdict, outcome, show(outcome))


def _write(path: Path, document: "msgspec.Struct") -> None:
    import msgspec

    from solwatch.workspace.files import write_atomically

    write_atomically(path, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
