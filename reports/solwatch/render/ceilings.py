"""A device's limits as text."""

from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Ceilings
from solwatch.render.setting import Setting, ceiling_lines, device_lines


def render_ceilings(fingerprint: Fingerprint, ceilings: Ceilings) -> str:
    """Return the device, then its ceilings, a line each."""
    lines = [*device_lines(fingerprint), *ceiling_lines(ceilings)]
    return "\n".join(_line(line, max(len(line.name) for line in lines)) for line in lines)


def _line(setting: Setting, width: int) -> str:
    return f"{setting.name:<{width}}  {setting.value}"
