"""The plot of ``calibrate``: rounds of one commit against itself, what each cell can hold, a file that says so."""

from dataclasses import dataclass
from pathlib import Path

from solwatch.app.condensing import replayed
from solwatch.app.recording import Recording, record
from solwatch.app.session import Request, Services
from solwatch.judge.calibration import CAUGHT, GATES, LEAST_ROUNDS, Calibration, calibrated_cells
from solwatch.judge.two_stage import TwoStage
from solwatch.model.errors import NothingMeasuredError, RequestError
from solwatch.model.record import Record
from solwatch.render.json import SCHEMA_VERSION, render_document
from solwatch.workspace.files import require_writable, write_atomically

FOLDER = "calibrations"
LABEL = "a/a"


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """What was found, and where it lies: the file of it, and the rounds that it was made from."""

    calibration: Calibration
    path: Path
    rounds_path: Path


def calibrate(request: Request, services: Services, *, rounds: int, budget_s: float | None) -> Calibrated:
    """Measure all cells of ``request.head`` against itself for so many rounds and say what they hold.

    Raises ``NothingMeasuredError`` when no cell has enough usable rounds.
    """
    folder = services.repository.root / request.config.records / FOLDER
    require_writable(folder)
    path = _unused(folder / f"{services.clock.now()[:19].replace(':', '').replace('-', '')}.rounds.jsonl")
    record(
        Recording(
            request=request,
            rounds=rounds,
            path=path,
            label=LABEL,
            occasion="calibration",
            budget_s=budget_s,
            continued_by=f"solwatch calibrate --rounds-of {path} uses them",
        ),
        services,
    )
    services.say(f"drawing gates from the rounds: {GATES} for each size that is tried")
    return _kept(replayed(path), path)


def calibrate_from(rounds: Path) -> Calibrated:
    """Say what the cells of recorded rounds hold; raises ``RequestError`` when their sides were not equal."""
    found = replayed(rounds)
    base = found.header.base
    if base is None or found.header.head.build != base.build or found.header.head_env != found.header.base_env:
        raise RequestError(f"{rounds} has rounds of two different builds: a calibration needs one build on both sides")
    return _kept(found, rounds)


def _kept(found: Record, rounds: Path) -> Calibrated:
    calibration = Calibration(
        schema_version=SCHEMA_VERSION,
        header=found.header,
        rounds=len(found.rounds),
        wall_s=sum(each.wall_s for each in found.rounds),
        rule=TwoStage.from_config(found.header.config).text,
        caught_share=CAUGHT,
        gates=GATES,
        cells=calibrated_cells(found),
    )
    if all(cell.problem is not None for cell in calibration.cells):
        why = calibration.cells[0].problem if calibration.cells else "no gated cell"
        raise NothingMeasuredError(f"{rounds} calibrates no cell ({why}): measure {LEAST_ROUNDS} rounds or more")
    path = rounds.with_name(f"{rounds.name.removesuffix('.jsonl').removesuffix('.rounds')}.calibration.json")
    write_atomically(path, render_document(calibration))
    return Calibrated(calibration=calibration, path=path, rounds_path=rounds)


def _unused(path: Path) -> Path:
    number, free = 1, path
    while free.exists():  # a clock that is set back tells a time twice
        number += 1
        free = path.with_name(path.name.replace(".rounds", f"-{number}.rounds"))
    return free
