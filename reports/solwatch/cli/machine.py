"""Commands about the machine: its limits, what it lacks, whether to trust it, what its cells can hold."""

from pathlib import Path
from typing import Any

import click

from solwatch.cli.options import (
    BENCH,
    BUDGET,
    BUILDS,
    DEVICE,
    SEED,
    SET,
    command_line,
    request_of,
    services_in,
    services_of,
)
from solwatch.model.errors import ExitCode


@click.command()
@DEVICE
@click.option("--dtype", "dtypes", multiple=True, default=("bfloat16", "float16", "float32"), show_default=True)
def ceilings(device: str, dtypes: tuple[str, ...]) -> int:
    """Show the device's limits: rated by its clocks and widths, and sustained as measured now.

    A device without rated ones (a CPU) keeps those measured here for its scores, in place of the earlier ones.
    """
    from solwatch.app.ceilings import measured_ceilings
    from solwatch.cli.showing import print_result, say
    from solwatch.render.ceilings import render_ceilings

    fingerprint, limits, kept = measured_ceilings(device, list(dtypes))
    print_result(render_ceilings(fingerprint, limits))
    if kept:
        say("kept: from now on the scores of this device rest on these ceilings")
    return 0


@click.command()
@click.argument("commit", default="HEAD")
@click.option("--rounds", type=click.IntRange(8, 1000), default=20, show_default=True, help="Rounds to measure.")
@click.option(
    "--rounds-of",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Measure nothing: take these rounds of one build against itself.",
)
@DEVICE
@SET
@BENCH
@SEED
@BUDGET
def calibrate(commit: str, rounds: int, rounds_of: Path | None, **options: Any) -> int:
    """Measure COMMIT against itself and say what min effect each cell can honestly hold on this machine."""
    from solwatch.app.calibrating import calibrate as calibrated
    from solwatch.app.calibrating import calibrate_from
    from solwatch.cli.showing import print_result, say, terminal_width
    from solwatch.render.calibration import IN_OWN_FILE, IN_PROJECT, render_calibration

    if rounds_of is not None and commit != "HEAD":
        raise click.UsageError(f"--rounds-of measures nothing: it goes without a COMMIT ({commit!r})")
    if rounds_of is not None:
        done, table = calibrate_from(rounds_of), IN_PROJECT
    else:
        services, config = services_of(options)
        done = calibrated(
            request_of(commit, commit, config, options), services, rounds=rounds, budget_s=options["budget"]
        )
        table = IN_OWN_FILE if (services.repository.root / "solwatch.toml").exists() else IN_PROJECT
    print_result(render_calibration(done.calibration, table=table, width=terminal_width()))
    say(f"rounds: {done.rounds_path}")
    say(f"calibration: {done.path}")
    return ExitCode.OK


@click.command()
@DEVICE
@SEED
@click.option(
    "--budget", "budget_s", type=click.FloatRange(1), metavar="SECONDS", help="Wall time for measuring, both gates."
)
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for JSON, records and pages.")
def selftest(device: str, seed: int | None, budget_s: float | None, output: Path | None) -> int:
    """Check that a gate on this machine can be trusted: equal builds, then slowdowns of known sizes.

    Needs no repository. Exits with 0 when all is as it must be, 3 when something is not, 4 when a size is left open.
    """
    from solwatch.app.selftest import Asked
    from solwatch.app.selftest import selftest as tested
    from solwatch.cli.showing import print_result, terminal_width
    from solwatch.render.selftest import render_selftest

    asked = Asked(command=command_line(), device=device, seed=seed, budget_s=budget_s, output=output)
    found = tested(asked, services_in)
    print_result(render_selftest(found, width=terminal_width()))
    return int(found.exit_code)


@click.command()
@click.argument("commit", required=False)
@DEVICE
@BUILDS
def doctor(commit: str | None, device: str, builds: Path | None) -> int:
    """Check what measuring needs: GPU, driver, toolkit, torch, the op, NVML, git; each with its fix.

    The op is that of COMMIT, by default of the working tree. With --builds it is taken from there (by default that of
    HEAD), and no compiler is needed.
    """
    from solwatch.app.examination import examine
    from solwatch.cli.showing import print_result, say
    from solwatch.render.doctor import render_findings

    findings = examine(Path.cwd(), device, say, commit=commit, builds=builds)
    print_result(render_findings(findings))
    return ExitCode.UNTRUSTED if any(finding.status == "fail" for finding in findings) else ExitCode.OK
