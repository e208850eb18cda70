"""The command ``bisect``: its options, and what is shown of the answer."""

from pathlib import Path
from typing import Any

import click

from solwatch.cli.options import (
    BENCH,
    BUDGET,
    BUILDS,
    DEVICE,
    GPUS,
    MIN_EFFECT,
    ROUNDS,
    SEED,
    SET,
    request_of,
    services_of,
)
from solwatch.model.errors import ExitCode, SolwatchError

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("good")
@click.argument("bad")
@BUILDS
@DEVICE
@GPUS
@SET
@BENCH
@SEED
@ROUNDS
@BUDGET
@MIN_EFFECT
@click.option(
    "--all", "every_cell", is_flag=True, help="Go on for the slower cells that another commit is to blame for."
)
@click.option("--inside-merges", is_flag=True, help="Search merged branches too, not only along first parents.")
@click.option("--fresh", is_flag=True, help="Start anew: use no gate that an earlier call took.")
@click.option(
    "--skips",
    type=click.IntRange(1, 1000),
    default=12,
    show_default=True,
    help="Narrow it no further once so many of the commits left could not be tested.",
)
@click.option("--json", "json_file", type=_FILE, metavar="FILE", help="Write the whole answer as JSON.")
@click.option("--markdown", "markdown_file", type=_FILE, metavar="FILE", help="Write the answer as text for an issue.")
def bisect(
    good: str,
    bad: str,
    every_cell: bool,
    inside_merges: bool,
    fresh: bool,
    skips: int,
    json_file: Path | None,
    markdown_file: Path | None,
    **options: Any,
) -> int:
    """Find the first commit after GOOD that made cells slower which BAD has slower than GOOD.

    Each commit tried is gated against GOOD in fresh rounds; the same command goes on after an interruption.
    --budget and --rounds are those of one gate. With --builds, commits that the folder has no build of are skipped.
    """
    from solwatch.app.bisecting import Bisecting
    from solwatch.app.bisecting import bisect as bisected
    from solwatch.cli.showing import print_result, say, terminal_width
    from solwatch.render.bisected_text import render_bisected, render_markdown
    from solwatch.render.json import render_bisection
    from solwatch.workspace.files import require_writable, write_atomically

    for file in filter(None, (json_file, markdown_file)):
        require_writable(file.absolute().parent)  # not after hours of gates
    services, config = services_of(options)
    asked = Bisecting(
        request=request_of(good, bad, config, options),
        every_cell=every_cell,
        inside_merges=inside_merges,
        fresh=fresh,
        most_untestable=skips,
    )
    found = bisected(asked, services)
    print_result(render_bisected(found, width=terminal_width()))
    try:
        if json_file is not None:
            write_atomically(json_file, render_bisection(found))
        if markdown_file is not None:
            write_atomically(markdown_file, render_markdown(found).encode())
    except SolwatchError as error:
        if found.exit_code != ExitCode.SLOWER:
            raise
        say(f"warning: {error}")  # the verdict goes before a file that is missing
    return found.exit_code
