"""Ceilings that only a measurement gives, kept for each fingerprint: a history of scores moves with times alone."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from solwatch.app.processes import WorkerProcess
from solwatch.model.errors import SolwatchError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.protocol import CeilingsMeasured, MeasureCeilings
from solwatch.model.record import Ceilings
from solwatch.workspace.files import write_atomically

CEILINGS_LIMIT_S = 300.0
"""Measuring ceilings is our own work, not a kernel's that might hang: ``hang_s`` says nothing about it."""

Measure = Callable[[list[str]], Ceilings]
"""Measures the ceilings for the dtypes it is given."""


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    fingerprint: Fingerprint
    ceilings: Ceilings


def ceilings_folder() -> Path:
    """Return the folder in the user's home with one file for each fingerprint."""
    return Path(os.path.expanduser("~/.solwatch/ceilings"))


def worker_ceilings(worker: WorkerProcess, fingerprint: Fingerprint, dtypes: Sequence[str]) -> Ceilings:
    """Return the ceilings of the device that ``worker`` has open; raises ``CellFailed``."""

    def measure(missing: list[str]) -> Ceilings:
        return worker.ask(MeasureCeilings(dtypes=missing), CeilingsMeasured, CEILINGS_LIMIT_S).ceilings

    return kept_ceilings(ceilings_folder(), fingerprint, dtypes, measure)


def kept_ceilings(folder: Path, fingerprint: Fingerprint, dtypes: Sequence[str], measure: Measure) -> Ceilings:
    """Return the ceilings for ``dtypes``: those kept in ``folder``, and what is missing measured and added to them.

    A device with rated ceilings is measured every time: its scores don't rest on the measurement. A folder that
    can't be written costs the next run its kept ceilings, not this one its scores.
    """
    kept = _read(folder, fingerprint)
    missing = [dtype for dtype in dtypes if kept is None or dtype not in kept.sustained_flops]
    if kept is None or missing:
        measured = measure(missing)
        if kept is not None:  # one bandwidth for all dtypes, so the first stays
            measured = msgspec.structs.replace(kept, sustained_flops=measured.sustained_flops | kept.sustained_flops)
        with contextlib.suppress(SolwatchError):
            keep_ceilings(folder, fingerprint, measured)
        kept = measured
    asked = {dtype: flops for dtype, flops in kept.sustained_flops.items() if dtype in dtypes}
    return msgspec.structs.replace(kept, sustained_flops=asked)


def keep_ceilings(folder: Path, fingerprint: Fingerprint, ceilings: Ceilings) -> bool:
    """Replace the ceilings kept for ``fingerprint``, unless it has rated ones; return whether it was done.

    Raises ``SolwatchError`` when they can't be written.
    """
    if ceilings.rated_bandwidth is not None:
        return False
    data = msgspec.json.encode(_Kept(fingerprint=fingerprint, ceilings=ceilings))
    write_atomically(_path(folder, fingerprint), msgspec.json.format(data, indent=1) + b"\n")
    return True


def _read(folder: Path, fingerprint: Fingerprint) -> Ceilings | None:
    try:
        kept = msgspec.json.decode(_path(folder, fingerprint).read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):  # half of a file says nothing: it is measured and written anew
        return None
    return kept.ceilings if kept.fingerprint == fingerprint else None


def _path(folder: Path, fingerprint: Fingerprint) -> Path:
    return folder / f"{hashlib.sha256(msgspec.json.encode(fingerprint)).hexdigest()[:16]}.json"
