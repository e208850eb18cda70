"""The plot of ``selftest``: a scratch project with known slowdowns, gated as any other, its answers checked."""

import contextlib
import dataclasses
import secrets
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from solwatch import __version__
from solwatch.app.gate import compare
from solwatch.app.outcome import Outcome
from solwatch.app.session import Request, Services
from solwatch.device.resolving import resolve_device
from solwatch.judge.holding import held_min_effect
from solwatch.judge.selftest import CheckedGate, Selftest, checked_cells
from solwatch.model.cell import CellSelection
from solwatch.model.errors import RequestError
from solwatch.render.json import SCHEMA_VERSION, render_document
from solwatch.workspace.files import disk_errors, write_atomically
from solwatch.workspace.git import Repository
from solwatch.workspace.scratch import Scratch
from solwatch.workspace.settings import load_config

MULTIPLES = {"none": 0.0, "slight": 1.25, "double": 2.0, "fivefold": 5.0}
"""Planted sizes by name, in min effects; "margin" is the margin itself. A quarter more than the min effect is the
least: what launching takes of a short call must not push the size under what the gate promises."""

SAME_SHARE = 1 / 3
"""Of the budget for the A/A gate, which has nothing to confirm."""

BUDGETS_S = {"cpu": 140.0, "cuda": 220.0}
"""Of both gates together, so that a selftest ends within three minutes on a CPU and five on a GPU."""

PROJECT = Path(__file__).with_name("scratch")
SIZES_FILE = "planted_slowdowns.py"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked: device, seed, wall time of both gates, and the folder to keep everything in (``None``: none)."""

    command: str
    device: str
    seed: int | None = None
    budget_s: float | None = None
    output: Path | None = None


def selftest(asked: Asked, services_in: Callable[[Repository], Services]) -> Selftest:
    """Gate equal builds, then planted slowdowns, and check the verdicts. ``services_in``: services for a repository.

    Raises ``RequestError`` for a folder that holds something else.
    """
    device_type = resolve_device(asked.device).split(":")[0]
    seed = asked.seed if asked.seed is not None else secrets.randbits(31)
    with _project_folder(asked.output) as folder:
        scratch = Scratch(folder)
        nothing = dict.fromkeys([*MULTIPLES, "margin"], 0.0)
        base = scratch.commit({**_project_files(), SIZES_FILE: _sizes_text(nothing)}, "Plant nothing")
        repository = scratch.opened()
        services = services_in(repository)
        budget_s = asked.budget_s or BUDGETS_S[device_type]
        config = load_config(repository.root, {"budget_s": SAME_SHARE * budget_s})
        same = scratch.commit({SIZES_FILE: _sizes_text(nothing) + "# the same again\n"}, "Change a comment")
        request = Request(
            command=asked.command,
            head=same,
            base=base,
            device=asked.device,
            selection=CellSelection("all"),
            config=config,
            seed=seed,
            profile=False,
        )
        services.say("1 of 2: A/A, two builds of equal sources")
        equal = compare(request, services)
        same_gate = _checked(equal, {})
        left_s = max(budget_s - same_gate.wall_s, 1.0)
        usual = config.min_effect_cuda if device_type == "cuda" else config.min_effect_cpu
        held = usual
        if device_type == "cpu":  # a GPU has nothing else to do: there noise is a fault, and no reason to claim less
            rounds = _affordable(equal, left_s)
            held = held_min_effect(equal.judgement, config, usual=usual, rounds=rounds, seed=seed)
        sizes = planted_sizes(held, config.margin_fraction)
        slower = scratch.commit({SIZES_FILE: _sizes_text(sizes)}, "Plant slowdowns")
        services.say(f"2 of 2: planted slowdowns, {100 * held:g} % is to be caught")
        config = msgspec.structs.replace(config, budget_s=left_s, min_effect=None if held == usual else held)
        planted = compare(dataclasses.replace(request, head=slower, config=config), services)
        found = Selftest(
            schema_version=SCHEMA_VERSION,
            solwatch=__version__,
            created_at=services.clock.now(),
            machine=services.machine,
            seed=seed,
            fingerprint=planted.record.header.fingerprint,
            usual_min_effect=usual,
            min_effect=held,
            same=same_gate,
            planted=_checked(planted, _planted_in(planted, sizes)),
        )
    if asked.output is not None:
        write_atomically(asked.output / "selftest.json", render_document(found))
    return found


def planted_sizes(min_effect: float, margin_fraction: float) -> dict[str, float]:
    """Return the slowdowns by name, as fractions, for a gate that promises ``min_effect``."""
    sizes = {name: multiple * min_effect for name, multiple in MULTIPLES.items()}
    return sizes | {"margin": margin_fraction * min_effect}


def _affordable(equal: Outcome, left_s: float) -> int:
    """Return how many rounds of all cells ``left_s`` seconds are enough for; none leaves before the first look."""
    first_look = min(equal.record.header.config.rounds)
    return int(left_s / statistics.median(each.wall_s for each in equal.record.rounds[:first_look]))


@contextlib.contextmanager
def _project_folder(output: Path | None) -> Iterator[Path]:
    if output is None:
        folder = Path(tempfile.mkdtemp(prefix="solwatch-selftest-"))
        project = folder / "project"
        try:
            yield project
        except BaseException:
            if not (project / "build" / "solwatch" / "records").exists():  # completed rounds are kept, and said to be
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)
        return
    with disk_errors(output):
        output.mkdir(parents=True, exist_ok=True)
        if any(output.iterdir()):
            raise RequestError(f"{output} is not empty: give --output a folder of its own")
    yield output.absolute() / "project"


def _project_files() -> dict[str, str]:
    """Return the scratch project's own files, path to text, as they are installed beside this module."""
    files = [file for file in PROJECT.rglob("*") if file.suffix in (".py", ".toml")]
    texts = {file.relative_to(PROJECT).as_posix(): file.read_text(encoding="utf-8") for file in files}
    return {**texts, ".gitignore": "build/\n__pycache__/\n"}


def _sizes_text(sizes: Mapping[str, float]) -> str:
    return f'"""How much slower each size of slowdown makes this build."""\n\nSLOWDOWNS = {dict(sizes)!r}\n'


def _planted_in(outcome: Outcome, sizes: Mapping[str, float]) -> dict[str, float]:
    """Return the slowdown planted in each cell; the first parameter of a cell names its size."""
    return {cell.key: sizes[cell.params[0].strip("'")] for cell in outcome.record.header.cells}


def _checked(outcome: Outcome, planted: Mapping[str, float]) -> CheckedGate:
    end = outcome.record.end
    return CheckedGate(
        cells=checked_cells(outcome.judgement, planted),
        rounds=outcome.judgement.completed,
        wall_s=end.wall_s if end is not None else 0.0,
    )
