"""The plot of ``ceilings``: open the device, read its rated limits, measure the sustained ones, keep them."""

from solwatch.app.kept_ceilings import ceilings_folder, keep_ceilings
from solwatch.device.opening import open_device
from solwatch.device.resolving import resolve_device
from solwatch.model.errors import RequestError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Ceilings

MEASURABLE = ("bfloat16", "float16", "float32")


def measured_ceilings(name: str, dtypes: list[str]) -> tuple[Fingerprint, Ceilings, bool]:
    """Return what device ``name`` is, its limits, and whether they were kept for the scores of later runs.

    Raises ``RequestError`` for a dtype that isn't measured, ``MachineError`` when they can't be kept.
    """
    for dtype in dtypes:
        if dtype not in MEASURABLE:
            raise RequestError(f"no ceiling is measured for {dtype!r}; there is {', '.join(MEASURABLE)}")
    device = open_device(resolve_device(name), seed=0)
    fingerprint, ceilings = device.fingerprint(), device.ceilings(dtypes)
    return fingerprint, ceilings, keep_ceilings(ceilings_folder(), fingerprint, ceilings)
