"""``solwatch ci``: the steps of a pipeline, which run on a terminal too."""

import os
from pathlib import Path

import click

FILE = click.Path(dir_okay=False, path_type=Path)
GITHUB = click.option("--github", is_flag=True, help="In a step of GitHub Actions: hand outputs and summary to it.")


@click.group()
def ci() -> None:
    """Plan, gate, join verdicts and write the comment: what the workflows call, on a terminal too."""


@ci.command()
@click.argument("base", required=False)
@click.argument("head", required=False)
@click.option("--event", "name", envvar="GITHUB_EVENT_NAME", show_envvar=True, help="The event's name.")
@click.option("--event-file", type=FILE, envvar="GITHUB_EVENT_PATH", show_envvar=True, help="The event as JSON.")
@click.option("--output", type=FILE, metavar="FILE", help="Write the plan as JSON, for 'solwatch ci verdict'.")
@GITHUB
def plan(
    base: str | None, head: str | None, name: str | None, event_file: Path | None, output: Path | None, github: bool
) -> int:
    """Say which two commits an event compares, and whether anything that can change a time has changed.

    With BASE: those commits (HEAD is the default of HEAD), whatever the event.
    """
    from solwatch.app.planning import planned, planned_between, read_event
    from solwatch.cli.showing import print_result
    from solwatch.model.ci_event import Event
    from solwatch.render.ci_plan import plan_outputs, render_plan
    from solwatch.workspace.files import write_atomically
    from solwatch.workspace.git import Repository
    from solwatch.workspace.github_files import set_outputs
    from solwatch.workspace.settings import load_config

    repository = Repository.open(Path.cwd())
    config = load_config(repository.root)
    if base is not None:
        made = planned_between(repository, config, base, head or "HEAD")
    elif name is None:
        raise click.UsageError("give BASE, or the event that asks: --event NAME --event-file FILE")
    else:
        made = planned(repository, config, name, read_event(event_file) if event_file else Event())
    if output is not None:
        import msgspec

        write_atomically(output, msgspec.json.encode(made) + b"\n")
    if github:
        set_outputs(os.environ, plan_outputs(made))
    print_result(render_plan(made))
    return 0
