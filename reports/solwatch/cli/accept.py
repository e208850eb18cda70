"""The command ``accept`` and how its options are read."""

import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    Beside = Literal["refuse", "replace", "further"]


def _share(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Return a slowdown, ``3%`` or ``0.03``, as a fraction."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)", value.strip(), re.ASCII)
    share = float(match[1]) / (100 if match[2] else 1) if match else -1.0
    if not 0 < share <= 1:
        raise click.BadParameter(f"{value!r} is not a slowdown above 0 and up to 100 %: write 3% or 0.03", ctx, param)
    return share


def _day(ctx: click.Context, param: click.Parameter, value: str | None) -> date | None:
    """Return a day, ``2027-03-31``."""
    try:
        return date.fromisoformat(value) if value is not None else None
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a day: write it as 2027-03-31", ctx, param) from None


@click.command()
@click.argument("cell")
@click.option("--max", "share", callback=_share, required=True, metavar="3%", help="The largest slowdown accepted.")
@click.option("--reason", required=True, metavar="TEXT", help="Why, for whoever reviews it.")
@click.option("--owner", metavar="NAME", help="Who answers for it.  [default: git's user.name]")
@click.option("--days", type=click.IntRange(1, 730), metavar="N", help="How long it holds.  [default: 90]")
@click.option("--expires", callback=_day, metavar="DATE", help="Its last day, in place of --days.")
@click.option("--replace", is_flag=True, help="Renew or correct the entry for the same cell.")
@click.option("--further", is_flag=True, help="One more slowdown of the same cell: the sizes multiply.")
def accept(
    cell: str,
    share: float,
    reason: str,
    owner: str | None,
    days: int | None,
    expires: date | None,
    replace: bool,
    further: bool,
) -> int:
    """Write a slowdown of CELL (its name, or a glob) that is meant into solwatch.accepted.toml, for review.

    The gate of a commit that has the entry, against a base that has not, fails for a larger slowdown only.
    """
    import os

    from solwatch.app.accepting import Accepting
    from solwatch.app.accepting import accept as accepted
    from solwatch.app.clock import SystemClock
    from solwatch.cli.showing import print_result, say
    from solwatch.render.accepted import render_acceptance
    from solwatch.workspace.acceptances import FILE
    from solwatch.workspace.git import Repository
    from solwatch.workspace.settings import load_config

    if days is not None and expires is not None:
        raise click.UsageError("--days and --expires both say how long it holds: give one of them")
    if replace and further:
        raise click.UsageError("--replace and --further exclude each other: correct the entry, or add one on top of it")
    beside: Beside = "replace" if replace else "further" if further else "refuse"
    repository = Repository.open(Path.cwd())
    asked = Accepting(cell=cell, share=share, reason=reason, owner=owner, days=days, expires=expires, beside=beside)
    entry = accepted(asked, repository, load_config(repository.root, {}), SystemClock(), os.environ, say)
    print_result(render_acceptance(entry, FILE))
    return 0
