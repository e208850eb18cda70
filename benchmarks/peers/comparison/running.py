"""One run of the comparison: the op made importable, cell after cell, everything kept as soon as it is known."""

import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

from benchmarks.peers.comparison.field import able
from benchmarks.peers.comparison.framework import Op
from benchmarks.peers.comparison.peer import Case, Peer
from benchmarks.peers.comparison.result import SCHEMA_VERSION, CellResult, Comparison
from benchmarks.peers.comparison.watchdog import Watchdog
from solwatch.app.builds import builder_for
from solwatch.app.device_lock import device_lock
from solwatch.device.places import places_of
from solwatch.model.errors import ExitCode, MachineError, NothingMeasuredError
from solwatch.render.json import render_document
from solwatch.workspace.files import write_atomically
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import load_config

ROOT = Path(__file__).resolve().parents[3]
INTERRUPTED = "interrupted"
STILL = "it was still running, or was killed"
"""What a file says that is written before the last cell."""

PACKAGES = ("torch", "triton", "nvidia-cublas", "nvidia-cutlass")


def compare(
    cases: Sequence[Case],
    peers: Sequence[Peer],
    *,
    device: str,
    rounds: int,
    seed: int,
    out: Path,
    say: Callable[[str], None],
) -> Comparison:
    """Time ``cases`` for the op and ``peers`` on ``device`` (``cuda:0``), writing ``out`` after each.

    A run that is interrupted, or that the GPU doesn't let go on, returns what it has and says so. Raises
    ``MachineError`` without a GPU or the op, and ``NothingMeasuredError`` when no cell was timed.
    """
    places = places_of(device)
    if places[0].device == "cpu":
        raise MachineError("the peers run on a GPU and none is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES")
    with device_lock(places, say):
        _provide_op(say)
        from benchmarks.peers.comparison.ruler import Ruler

        watchdog = Watchdog(lambda text: _give_up(text, out, say))
        ruler = Ruler(int(places[0].device.partition(":")[2]), seed=seed, watchdog=watchdog)
        present, left_out = able(peers, ruler.gpu)
        if Op.name in left_out:
            raise MachineError(left_out[Op.name])
        for name, why in left_out.items():
            say(f"{name} is left out: {why}")
        ceilings = ruler.ceilings(cases[0].dtype)
        cells: list[CellResult] = []

        def written(stopped: str | None) -> Comparison:
            made = Comparison(
                schema_version=SCHEMA_VERSION,
                created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
                dtype=cases[0].dtype,
                rounds=rounds,
                seed=seed,
                fingerprint=ruler.fingerprint(),
                ceilings=ceilings,
                versions=_versions(),
                peers=[peer.name for peer in present],
                left_out=left_out,
                cells=cells,
                stopped=stopped,
            )
            write_atomically(out, render_document(made))
            return made

        try:
            for number, case in enumerate(cases, 1):
                say(f"{number} of {len(cases)}: {case}")
                cells.append(ruler.compare(case, present, ceilings, rounds))
                made = written(None if number == len(cases) else STILL)
        except (KeyboardInterrupt, MachineError) as error:
            if not cells:
                raise
            made = written(str(error) or INTERRUPTED)
    if not any(contender.time_s for cell in made.cells for contender in cell.contenders):
        raise NothingMeasuredError(f"no contender was timed in any cell: {out} says why")
    return made


def _give_up(text: str, out: Path, say: Callable[[str], None]) -> None:
    """End the process: a thread that waits for the GPU can't be reached any more."""
    say(f"{text}: leave it out with --peers; the cells before it are in {out}")
    os._exit(ExitCode.UNTRUSTED)


def _provide_op(say: Callable[[str], None]) -> None:
    """Build the working tree's op and make it importable, unless one is installed."""
    if importlib.util.find_spec("fused_o_proj") is None:
        repository = Repository.open(ROOT)
        builder = builder_for(repository, load_config(repository.root, {}), "cuda", os.environ)
        sys.path.insert(0, str(builder.provide(repository.working_tree()).path))
    from fused_o_proj import library_path

    say(f"the op: {library_path()}")


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
