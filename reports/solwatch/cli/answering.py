"""``solwatch ci comment`` and ``answer``: what other machines found, as comments; it is taken for hostile."""

from pathlib import Path

import click

from solwatch.cli.ci_options import FILE, FOLDER_OR_ZIP, address
from solwatch.model.errors import MachineError


@click.command()
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


@click.command()
@click.argument("source", type=FOLDER_OR_ZIP)
@click.option("--good", metavar="SHA", required=True, help="The good commit that it must be of.")
@click.option("--bad", metavar="SHA", required=True, help="The bad one.")
@click.option("--run-url", default="", metavar="URL", callback=address, help="Where the records are.")
@click.option("--output", type=FILE, metavar="FILE", help="Write the comment there.")
def answer(source: Path, good: str, bad: str, run_url: str, output: Path | None) -> int:
    """Print an issue's comment from SOURCE, a folder or zip with bisection.json that is taken for hostile.

    That file is what `bisect --json` writes. Which issue it belongs to is for the caller to know, never for SOURCE.
    """
    from solwatch.app.handed_over import bisection_in
    from solwatch.cli.showing import print_result
    from solwatch.model.plain import without_commands
    from solwatch.render.bisection_comment import render_bisection_comment
    from solwatch.workspace.files import write_atomically

    found = bisection_in(source, good, bad)
    try:
        text = render_bisection_comment(found, run_url=run_url)
    except (ArithmeticError, LookupError, ValueError) as error:
        raise MachineError(f"the bisection in {source} can't be trusted: it contradicts itself ({error!r})") from error
    if output is not None:
        write_atomically(output, text.encode())
    print_result(without_commands(text).rstrip("\n"))
    return 0
