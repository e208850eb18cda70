"""The plot of ``ceilings``: open the device, read its rated limits, measure the sustained ones."""

from solwatch.device.opening import open_device
from solwatch.device.resolving import resolve_device
from solwatch.model.errors import RequestError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Ceilings

MEASURABLE = ("bfloat16", "float16", "float32")


def measured_ceilings(name: str, dtypes: list[str]) -> tuple[Fingerprint, Ceilings]:
    """Return what device ``name`` is and its limits; raises ``RequestError`` for a dtype that isn't measured."""
    for dtype in dtypes:
        if dtype not in MEASURABLE:
            raise RequestError(f"no ceiling is measured for {dtype!r}; there is {', '.join(MEASURABLE)}")
    device = open_device(resolve_device(name), seed=0)
    return device.fingerprint(), device.ceilings(dtypes)
