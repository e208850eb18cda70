"""The command line: times the op and its peers in turn and prints one table; builds what has to be built ahead."""

import json
from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from benchmarks.layers import FULL_TOKENS, LAYERS
from benchmarks.peers.comparison.cutlass_build import build as build_library
from benchmarks.peers.comparison.field import DTYPES, chosen_cases, chosen_peers
from benchmarks.peers.comparison.result import Comparison
from benchmarks.peers.comparison.running import INTERRUPTED, ROOT, compare
from benchmarks.peers.comparison.table import render
from solwatch.cli.ending import ending
from solwatch.model.errors import ExitCode
from solwatch.workspace.files import require_writable

OUT = ROOT / "build" / "peers" / "comparison.json"


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--tokens", metavar="N,...", help=f"Numbers of tokens; default {','.join(map(str, FULL_TOKENS))}.")
@click.option("--layers", metavar="NAME,...", help=f"Layers; default {','.join(LAYERS)}.")
@click.option("--dtype", type=click.Choice(DTYPES), default=DTYPES[0], show_default=True)
@click.option("--peers", metavar="NAME,...", help="Peers to time beside the op; default all (--list shows them).")
@click.option("--rounds", type=click.IntRange(3, 1000), default=20, show_default=True, help="Rounds for each cell.")
@click.option("--device", default="auto", show_default=True, metavar="cuda:N", help="The GPU.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws data, places of buffers, order of turns.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=OUT, help="Where the JSON goes.")
@click.option("--list", "listed", is_flag=True, help="List peers and cells, and time nothing.")
@click.pass_context
def peers(
    context: click.Context,
    tokens: str | None,
    layers: str | None,
    dtype: str,
    peers: str | None,
    rounds: int,
    device: str,
    seed: int,
    out: Path,
    listed: bool,
) -> None:
    """Time the op beside everything else that computes it, cold, in turn, on the same buffers."""
    if context.invoked_subcommand is not None:
        return
    cases = chosen_cases(tokens, layers, dtype)
    chosen = chosen_peers(peers)
    if listed:
        for peer in chosen:
            click.echo(f"{peer.name:<10} {peer.summary}")
        click.echo(
            f"{len(cases)} cells: {_each(case.tokens for case in cases)} tokens × {_each(c.layer for c in cases)}"
        )
        return
    require_writable(out.parent)
    made = compare(cases, chosen, device=device, rounds=rounds, seed=seed, out=out, say=_say)
    click.echo(render(made))
    _say(f"written: {out}")
    if made.stopped is not None:
        context.exit(ExitCode.INTERRUPTED if made.stopped == INTERRUPTED else ExitCode.UNTRUSTED)


@peers.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def show(file: Path) -> None:
    """Print the table of a run that was kept."""
    try:
        made = msgspec.json.decode(file.read_bytes(), type=Comparison)
    except msgspec.DecodeError as error:
        raise click.UsageError(f"{file} is not a comparison of this version: {error}") from None
    click.echo(render(made))


@peers.command()
@click.option(
    "--dtype", "dtypes", type=click.Choice(DTYPES), multiple=True, default=DTYPES[:1], show_default=True,
    help="May be given twice.",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 256), help="Compilations at a time; default by cores and memory.")
def build(dtypes: tuple[str, ...], jobs: int | None) -> None:
    """Compile the CUTLASS kernels into build/peers; needs nvcc, no GPU. The library may be carried to a GPU machine."""
    library = build_library(dtypes, jobs=jobs, say=_say)
    click.echo(f"{library} ({library.stat().st_size / 1e6:.1f} MB)")


@peers.command()
def schema() -> None:
    """Print the JSON schema of a run that was kept."""
    click.echo(json.dumps(msgspec.json.schema(Comparison), indent=1, sort_keys=True))


def main() -> int:
    """Run the command; returns the exit code of the documented table."""
    try:
        return int(peers.main(prog_name="python -m benchmarks.peers", standalone_mode=False) or ExitCode.OK)
    except (Exception, KeyboardInterrupt) as error:
        message, code = ending(error)
        _say(message)
        return int(code)


def _each(values: Iterable[object]) -> str:
    return ", ".join(map(str, dict.fromkeys(values)))


def _say(text: str) -> None:
    click.echo(f"peers: {text}", err=True)
