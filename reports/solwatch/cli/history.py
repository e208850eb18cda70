"""``solwatch history``: results kept on a branch, change points along it, and the noise of each card."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from solwatch.app.history import History, Moved

OUTPUT = click.Path(dir_okay=False, path_type=Path)
SINCE = click.option("--since", metavar="COMMIT", help="Only changes after COMMIT.")
THRESHOLD = click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.02,
    show_default=True,
    help="Change of a level that counts: 0.02 is 2 %.",
)


def _on_branch(function: "click.decorators.FC") -> "click.decorators.FC":
    branch = click.option("--branch", default="asv-results", show_default=True, help="Branch that keeps the results.")
    remote = click.option("--remote", default="origin", show_default=True, help="Remote that has it.")
    return remote(branch(function))


@click.group()
def history() -> None:
    """Keep results on a branch of their own, and find where along it cells became slower."""


@history.command()
@_on_branch
@click.option(
    "--results",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Push these, in place of those that the settings name.",
)
def push(remote: str, branch: str, results: Path | None) -> int:
    """Put results, noise and reported changes on the branch, merged with what others put there meanwhile."""
    from solwatch.app.history import push as pushed
    from solwatch.cli.showing import print_result

    moved = pushed(_history(remote, branch, results))
    _warn(moved)
    if moved.commit is None:
        print_result(f"{branch} on {remote} has all of it already: nothing was pushed")
    else:
        tries = f", at attempt {moved.attempts}" if moved.attempts > 1 else ""
        print_result(f"pushed {_files(moved)} to {branch} on {remote}: {moved.commit[:10]}{tries}")
    return 0


@history.command()
@_on_branch
def pull(remote: str, branch: str) -> int:
    """Bring the branch's results into the folder that asv publishes from; what is there is merged, never lost."""
    from solwatch.app.history import pull as pulled
    from solwatch.cli.showing import print_result

    moved = pulled(_history(remote, branch))
    _warn(moved)
    if not moved.known:
        print_result(f"{remote} has no branch {branch} yet: `solwatch history push` makes it")
    else:
        print_result(f"{_files(moved)} written from {branch} on {remote}")
    return 0


@history.command()
@SINCE
@THRESHOLD
@click.option("--all", "everything", is_flag=True, help="Those too that were reported before.")
@click.option("--json", "json_file", type=OUTPUT, metavar="FILE", help="Write them as JSON too.")
@click.option("--markdown", "markdown_file", type=OUTPUT, metavar="FILE", help="Write them as Markdown too.")
@click.option("--github", is_flag=True, help="In a step of GitHub Actions: set outputs 'bisect' (a matrix), 'needed'.")
@click.option("--mark", is_flag=True, help="Remember the new ones as reported; push takes that to the branch.")
def changes(
    since: str | None,
    threshold: float,
    everything: bool,
    json_file: Path | None,
    markdown_file: Path | None,
    github: bool,
    mark: bool,
) -> int:
    """Show where along HEAD's first parents results changed their level, by asv's step detection: what is new of it."""
    from solwatch.app.history_changes import found_changes, mark_reported
    from solwatch.cli.showing import print_result, say
    from solwatch.render.changes import bisect_matrix, render_changes, render_changes_json, render_changes_markdown
    from solwatch.workspace.files import write_atomically
    from solwatch.workspace.github_files import set_outputs

    asked = _history()
    found = found_changes(asked, since=since, least_change=threshold)
    for warning in found.warnings:
        say(warning)
    shown = [each for each in found.changes if each.new or everything]
    known = sum(not each.new for each in found.changes)
    print_result(render_changes(shown, known=known, files=found.files))
    if json_file is not None:
        write_atomically(json_file, render_changes_json(shown))
    if markdown_file is not None:
        write_atomically(markdown_file, render_changes_markdown(shown).encode())
    if github:
        matrix, count = bisect_matrix(found.changes)
        set_outputs(os.environ, {"bisect": matrix, "needed": "true" if count else "false"})
    if mark:
        mark_reported(asked, shown)
    return 0


@history.command()
@SINCE
@THRESHOLD
def issues(since: str | None, threshold: float) -> int:
    """Print the issues there ought to be as JSON, one for each place that became slower: title, marker, body, state."""
    from solwatch.app.history_changes import found_changes
    from solwatch.cli.showing import print_result, say
    from solwatch.render.changes import render_issues

    found = found_changes(_history(), since=since, least_change=threshold)
    for warning in found.warnings:
        say(warning)
    print_result(render_issues(found.changes).decode().rstrip("\n"))
    return 0


@history.command()
@click.argument("record", required=False, type=OUTPUT)
@click.option("--show", is_flag=True, help="Show what is kept.")
def noise(record: Path | None, show: bool) -> int:
    """Keep the noise that RECORD shows of its cards: a gate of a commit against itself, or a calibration's rounds."""
    from solwatch.app.noise import add_noise, kept_noise
    from solwatch.cli.showing import print_result, say
    from solwatch.render.noise import render_noise

    if record is None and not show:
        raise click.UsageError("give the RECORD of a gate of a commit against itself, or --show")
    results = _history().results
    if record is not None:
        rows = add_noise(record, results)
        say(f"kept: noise of {len(rows)} cells; `solwatch history push` takes it to the branch")
    if show:
        print_result(render_noise(kept_noise(results)))
    return 0


def _history(remote: str = "origin", branch: str = "asv-results", results: Path | None = None) -> "History":
    import random
    import time

    from solwatch.app.clock import SystemClock
    from solwatch.app.history import History
    from solwatch.workspace.git import Repository
    from solwatch.workspace.settings import load_config

    repository = Repository.open(Path.cwd())
    config = load_config(repository.root)
    return History(
        repository=repository,
        results=results or repository.root / config.results,
        remote=remote,
        branch=branch,
        clock=SystemClock(),
        pause=time.sleep,
        dice=random.Random(),
    )


def _warn(moved: "Moved") -> None:
    from solwatch.cli.showing import say

    for warning in moved.warnings:
        say(f"warning: {warning}")


def _files(moved: "Moved") -> str:
    return f"{moved.files} file{'s' if moved.files != 1 else ''}"
