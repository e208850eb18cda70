"""Human units for SI figures."""

import math

from solwatch.model.estimate import Estimate
from solwatch.model.plain import plain

ABSENT = "–"
"""What stands where a figure is not known: never a zero."""

_PREFIXES = [
    (1e15, "P"),
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "µ"),
    (1e-9, "n"),
]

_PLAIN_FROM, _PLAIN_TO = 1e-5, 1e9
"""Figures outside are written with an exponent: a damaged file may hold any."""

_SCALED = {"seconds": "s", "bytes": "B"}
"""asv's names of the units that get prefixes."""


def scaled(value: float | None, unit: str, digits: int = 4) -> str:
    """Return ``value`` with an SI prefix and ``digits`` significant digits: ``18.24 µs``."""
    if value is None or not math.isfinite(value):
        return ABSENT
    if value == 0:
        return f"0 {unit}"
    factor, prefix = next((pair for pair in _PREFIXES if abs(value) >= 0.99995 * pair[0]), _PREFIXES[-1])
    return f"{_significant(value / factor, digits)} {prefix}{unit}"


def quantity(value: float | None, unit: str) -> str:
    """Return a benchmark's figure in its own unit; seconds and bytes are scaled."""
    if unit in _SCALED:
        return scaled(value, _SCALED[unit])
    if value is None or not math.isfinite(value):
        return ABSENT
    return f"{value:,.5g} {plain(unit, 40)}"


def percentage(fraction: float | None, digits: int = 3) -> str:
    """Return a fraction as a percentage: ``31.4 %``."""
    if fraction is None or not math.isfinite(100 * fraction):
        return ABSENT
    return f"{_significant(100 * fraction, digits)} %"


def detectable(fraction: float | None) -> str:
    """Return an MDE as a percentage; beyond tenfold it is only said to be so, infinite ones included.

    There is no negative one: a file that has it is wrong, and it is absent.
    """
    if fraction is not None and fraction < 0:
        return ABSENT
    return "> 1000 %" if fraction is not None and fraction > 10 else percentage(fraction)


def change(ratio: float | None, point: float | None = None) -> str:
    """Return a slowdown ratio as a signed percentage, ``+2.31 %``, or as ``6.4×`` when it is far from 1.

    ``point``: the estimate that ``ratio`` is an end of the interval of; both ends are written as it is.
    """
    if ratio is None or not math.isfinite(ratio):
        return ABSENT
    if 0.5 < (ratio if point is None else point) < 2:
        percent = round(100 * (ratio - 1), 2)
        if abs(percent) >= _PLAIN_TO:  # the end of an absurd interval
            return f"{_significant(percent, 3)} %" if math.isfinite(percent) else ABSENT
        return f"{percent:+.2f} %".replace("-", "−") if percent else "0.00 %"
    return f"{_significant(ratio, 3)}×"


def change_with_error(ratio: Estimate) -> str:
    """Return a slowdown ratio with half its interval, ``+4.10 % ± 0.30``; without an interval the change alone."""
    half = None if ratio.low is None or ratio.high is None else 50 * (ratio.high - ratio.low)
    if half is None or not math.isfinite(half) or not 0.5 < ratio.point < 2:
        return change(ratio.point)
    return f"{change(ratio.point)} ± {half:.2f}"


def clock_time(seconds: float) -> str:
    """Return a duration as ``m:ss``, or ``h:mm:ss`` from an hour on."""
    if not math.isfinite(seconds):
        return ABSENT
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _significant(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    if not _PLAIN_FROM <= abs(value) < _PLAIN_TO:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    # 9.9996 with four digits rounds up to 10.000: one decimal too many.
    return (
        f"{value:.{decimals - 1}f}"
        if decimals and len(text.lstrip("-").replace(".", "").lstrip("0")) > digits
        else text
    )
