"""The commands that measure commits or show what was measured; each hands a request to the application."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from solwatch.cli.options import (
    BENCH,
    BUDGET,
    BUILDS,
    DEVICE,
    ENVIRONMENT,
    GITHUB,
    MEASURE_ALL,
    SEED,
    SET,
    measuring,
    request_of,
    services_of,
    sides_of,
    two_sides,
)

if TYPE_CHECKING:
    from solwatch.app.outcome import Outcome


@click.command()
@two_sides
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

    base, head = sides_of(base, head, working_tree, options, pinned=pinned)
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
    from solwatch.render.charts.drawing import drawing_beside

    with drawing_beside():  # it starts while the rest is imported, read and judged
        from solwatch.app.reporting import newest_record, reported
        from solwatch.cli.showing import rendered, show

        if github:
            from solwatch.cli.github import require_step

            require_step()
        if record is None or output is None:
            from solwatch.workspace.git import Repository
            from solwatch.workspace.settings import load_config

            root = Repository.open(Path.cwd()).root
            config = load_config(root, {})
            record = record or newest_record(root / config.records)
            output = output or root / config.report
        tables: list[str] = []
        outcome = reported(record, output, png=png, meanwhile=lambda *judged: tables.append(rendered(*judged)))
    if github:
        from solwatch.cli.github import tell_github

        tell_github(outcome)
    return show(outcome, *tables)


@click.command()
@two_sides
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

    base, head = sides_of(base, head, working_tree, options)
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
