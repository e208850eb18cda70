"""``solwatch ci verdict`` and ``retry``: what all entries of a fleet said, as one exit code or one more trial."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from solwatch.cli.ci_options import FILE, FOLDER_OR_ZIP, GITHUB, entry_name, write_json
from solwatch.model.errors import ExitCode

if TYPE_CHECKING:
    from solwatch.model.joint_verdict import BuildResult

BUILD_CODES: dict[str, "BuildResult"] = {"0": "success", "1": "head", "2": "refused", "3": "base"}
BUILD_WORDS = ("success", "failure", "cancelled", "skipped")


def _build_result(context: click.Context, parameter: click.Parameter, value: str) -> "BuildResult":
    """Return how the build ended; a code that is none of solwatch's is that of a shell or a signal (137: memory)."""
    if value in BUILD_WORDS:
        return cast("BuildResult", value)
    if not re.fullmatch(r"[0-9]{1,3}", value):
        raise click.BadParameter(f"{value!r}: allowed are an exit code and {', '.join(BUILD_WORDS)}")
    return BUILD_CODES.get(value, "failure")


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
        write_json(output, joint)
    if github:
        tell_joint(joint)
    print_result(without_commands(render_joint_line(joint)))
    if unmeasured == "pass" and joint.code in (ExitCode.UNTRUSTED, ExitCode.UNDECIDED):
        say(f"exit code {joint.code} says nothing of the change: it passes unmeasured (--unmeasured=pass)")
        return ExitCode.OK
    return joint.code


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
