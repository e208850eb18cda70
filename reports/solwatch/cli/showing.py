"""What a finished command says: verdict first, table second, advice last; results on stdout, the rest on stderr."""

import shutil
import sys

import click

from solwatch.app.gate import Outcome
from solwatch.render.terminal import render_terminal


def show(outcome: Outcome) -> int:
    """Print the outcome and return its exit code."""
    for warning in outcome.kept.warnings:
        click.echo(f"warning: {warning}", err=True)
    width = shutil.get_terminal_size((120, 40)).columns
    click.echo(render_terminal(outcome.record, outcome.judgement, width=width, colour=sys.stdout.isatty()))
    click.echo(f"report: {outcome.kept.report}")
    click.echo(f"record: {outcome.kept.record}", err=True)
    return int(outcome.judgement.exit_code)
