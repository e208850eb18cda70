"""``solwatch ci verdict`` and ``retry``: what all entries of a fleet said, as one exit code or one more trial."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from solwatch.cli.ci_options import FILE, FOLDER_OR_ZIP, GITHUB, entry_name, write_json
from solwatch.model.errors import ExitCode

if TYPE_CHECKING:
    from solwatch.model.joint_verdict import BuildResult, JobResult

BUILD_CODES: dict[str, "BuildResult"] = {"0": "success", "1": "head", "2": "refused", "3": "base"}
WORDS = ("success", "failure", "cancelled", "skipped")
JOBS = ("gate", "again", "retry")


def _build_result(context: click.Context, parameter: click.Parameter, value: str) -> "BuildResult":
    """Return how the build ended; a code that is none of solwatch's is that of a shell, above 128 a signal's."""
    if value in WORDS:
        return cast("BuildResult", value)
    if not re.fullmatch(r"[0-9]{1,3}", value):
        raise click.BadParameter(f"{value!r}: allowed are an exit code and {', '.join(WORDS)}")
    return BUILD_CODES.get(value, "cancelled" if int(value) > 128 else "failure")


def _job_results(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> "dict[str, JobResult]":
    """Return job -> GitHub's word for it."""
    found = {}
    for value in values:
        name, _, word = value.partition("=")
        if name not in JOBS or word not in WORDS:
            raise click.BadParameter(f"{value!r}: allowed is JOB=WORD of {', '.join(JOBS)} and {', '.join(WORDS)}")
        found[name] = cast("JobResult", word)
    return found


SOURCES = click.argument("sources", nargs=-1, required=True, type=FOLDER_OR_ZIP, metavar="FOLDER...")
MATRIX = click.option("--matrix", metavar="JSON", help="What 'solwatch fleet matrix' gave: every entry must have said.")


@click.command()
@SOURCES
@MATRIX
@click.option("--entry", "entries", multiple=True, metavar="NAME", callback=entry_name, help="The same, by name.")
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
    "--job",
    "results",
    multiple=True,
    metavar="JOB=WORD",
    callback=_job_results,
    help="What became of job gate, again or retry: a cancelled one is never a pass.",
)
@click.option(
    "--unmeasured",
    type=click.Choice(["pass", "fail"]),
    default="fail",
    show_default=True,
    help="What 3 and 4 do where only runners failed: pass ends with 0, and says so.",
)
@click.option("--output", type=FILE, metavar="FILE", help="Write the joint verdict as JSON, for 'solwatch ci comment'.")
@GITHUB
def verdict(
    sources: tuple[Path, ...],
    matrix: str | None,
    entries: tuple[str, ...],
    plan_text: str | None,
    build_result: "BuildResult",
    results: "dict[str, JobResult]",
    unmeasured: str,
    output: Path | None,
    github: bool,
) -> int:
    """Join what all entries of the fleet and their retries said (verdict.json below FOLDERs) into one exit code."""
    from solwatch.app.handed_over import jobs_of, plan_from, verdicts_in
    from solwatch.app.joining import ends_with, joined
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
        jobs=results,
        doubts=doubts,
    )
    if output is not None:
        write_json(output, joint)
    if github:
        tell_joint(joint)
    print_result(without_commands(render_joint_line(joint)))
    code = ends_with(joint, unmeasured=unmeasured)
    if code != joint.code:
        say(f"exit code {joint.code} says nothing of the change: it passes unmeasured (--unmeasured=pass)")
    elif unmeasured == "pass" and code in (ExitCode.UNTRUSTED, ExitCode.UNDECIDED):
        say(f"exit code {code} stands: what was cancelled, left out or can't be trusted is no runner's fault")
    return code


@click.command()
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
