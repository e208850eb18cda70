"""``solwatch fleet``: which runners there are, what to build for them, whether this machine is one of them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from solwatch.model.fleet import Fleet

FILE = click.option(
    "--file",
    "path",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The fleet; .github/fleet.json of this repository by default.",
)


@click.group()
def fleet() -> None:
    """Read the list of runners that commits are gated on."""


@fleet.command()
@FILE
@click.option("--ephemeral", is_flag=True, help="Only runners that are thrown away after a job: for code from a fork.")
@click.option("--entry", metavar="NAME", help="Only this runner.")
@click.option("--github-output", is_flag=True, help="Also set the step's outputs: matrix, architectures, devices.")
def matrix(path: Path | None, ephemeral: bool, entry: str | None, github_output: bool) -> int:
    """Print the value of a job's strategy.matrix: one job for each runner."""
    from solwatch.cli.showing import print_result
    from solwatch.model.architecture import build_list
    from solwatch.model.fleet import Fleet
    from solwatch.render.fleet import render_devices, render_matrix
    from solwatch.workspace.fleet import ephemeral_runners, find_runner
    from solwatch.workspace.github_files import set_outputs

    loaded, read = _load(path)
    runners = ephemeral_runners(loaded, read) if ephemeral else loaded.runners
    if entry is not None:
        runners = [find_runner(Fleet(runners=runners), entry, read)]
    rendered = render_matrix(runners)
    if github_output:
        built = build_list(name for runner in runners for name in runner.architectures)
        outputs = {"matrix": rendered, "architectures": built, "devices": render_devices(runners)}
        set_outputs(os.environ, outputs)
    print_result(rendered)
    return 0


@fleet.command()
@FILE
def architectures(path: Path | None) -> int:
    """Print what to build kernels for, as TORCH_CUDA_ARCH_LIST takes it: 8.0;9.0a."""
    from solwatch.cli.showing import print_result
    from solwatch.model.architecture import build_list

    loaded, _ = _load(path)
    print_result(build_list(name for runner in loaded.runners for name in runner.architectures))
    return 0


@fleet.command()
@FILE
@click.argument("name")
def check(path: Path | None, name: str) -> int:
    """Check that this machine's GPUs and driver are what the runner NAME promises; exit code 3 if not."""
    from solwatch.cli.showing import print_result

    print_result(checked(path, name))
    return 0


def checked(path: Path | None, name: str) -> str:
    """Return in one line that this machine is the runner ``name`` of the fleet; raises ``MachineError`` if not."""
    from solwatch.app.fleet_check import check_machine
    from solwatch.device.cards import visible_cards
    from solwatch.device.gpu_facts import gpu_facts
    from solwatch.model.plain import plain
    from solwatch.workspace.fleet import find_runner

    loaded, read = _load(path)
    return plain(check_machine(find_runner(loaded, name, read), visible_cards, gpu_facts))


def _load(path: Path | None) -> "tuple[Fleet, Path]":
    """Return the fleet and the file it was read from."""
    from solwatch.workspace.fleet import FLEET_FILE, load_fleet
    from solwatch.workspace.git import Repository

    read = path or Path(os.path.relpath(Repository.open(Path.cwd()).root / FLEET_FILE))
    return load_fleet(read), read
