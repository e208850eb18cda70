"""The figures of one cell, side by side, for its part of a report."""

from collections.abc import Callable
from dataclasses import dataclass

from solwatch.judge.judgement import CellFacts, SideFacts
from solwatch.model.estimate import Estimate
from solwatch.model.plain import plain
from solwatch.model.record import THROTTLE_REASONS
from solwatch.model.verdict import CellVerdict
from solwatch.render.units import ABSENT, detectable, percentage, quantity, scaled
from solwatch.sol.score import CeilingKind


@dataclass(frozen=True)
class Detail:
    """``figures``: name, head, base for each line that at least one side has. ``limits``: lines of thresholds."""

    figures: list[tuple[str, str, str]]
    limits: list[tuple[str, str]]


def cell_detail(cell: CellVerdict, facts: CellFacts) -> Detail:
    """Return the details of one cell."""
    figures = []
    # Beside a side without times the other's figures compare with nothing.
    for name, read in _FIGURES:
        if facts.head.time is None and name not in _KEPT_WITHOUT_HEAD:
            continue
        head = read(facts.head, facts.unit)
        base = read(facts.base, facts.unit) if facts.base is not None else ABSENT
        if (head, base) != (ABSENT, ABSENT):
            figures.append(("value" if name == _TIME and facts.unit != "seconds" else name, head, base))
    return Detail(figures=figures, limits=_limits(cell, facts))


def _limits(cell: CellVerdict, facts: CellFacts) -> list[tuple[str, str]]:
    limits = []
    if facts.work is not None:
        work = facts.work
        done = f"{scaled(work.flops, 'FLOP')}, {scaled(work.traffic_bytes, 'B')}, {plain(work.dtype)}"
        limits.append(("work", done))
    if facts.head.score is not None:
        score = facts.head.score
        limits.append(("T_SOL", f"{scaled(score.t_sol_s, 's')}, {score.bound} bound, {score.kind} ceilings"))
    if cell.slowdown_ratio is not None:
        limits.append(("min effect (δ1)", percentage(facts.thresholds.min_effect)))
        limits.append(("margin (δ0)", percentage(facts.thresholds.margin)))
        if facts.thresholds.accepted:
            limits.append(("accepted slowdown", f"up to {percentage(facts.thresholds.accepted)}, thresholds on top"))
        limits.append(("detectable here (MDE)", detectable(cell.mde)))
        limits.append(("power at the min effect", percentage(cell.power)))
        limits.append(("adjusted p, slower", f"{cell.p_value:.2g}" if cell.p_value is not None else ABSENT))
        limits.append(("decided after", f"{facts.decided_at} rounds" if facts.decided_at is not None else ABSENT))
    if facts.thresholds.sol_floor is not None:
        limits.append(("SOL floor", f"{facts.thresholds.sol_floor:.3f}"))
    if facts.thresholds.most_rounds is not None:
        limits.append(("rounds, at most", str(facts.thresholds.most_rounds)))
    return [(name, value) for name, value in limits if value != ABSENT]


def _estimate(estimate: Estimate | None, unit: str) -> str:
    if estimate is None:
        return ABSENT
    text = quantity(estimate.point, unit)
    if estimate.low is None or estimate.high is None:
        return text
    if not estimate.point:
        return text
    return f"{text} ± {percentage((estimate.high - estimate.low) / 2 / estimate.point, 2)}"


def _sol(side: SideFacts, unit: str) -> str:
    score = side.score
    if score is None or score.sol_score is None or score.sol_gap is None:
        return ABSENT
    return f"{score.sol_score:.3f} (gap {score.sol_gap:.2f}×)"


def _share(name: str, kind: CeilingKind | None = None) -> Callable[[SideFacts, str], str]:
    """Return a reader of one share of a ceiling; with ``kind``, only where the score rests on such ceilings."""

    def read(side: SideFacts, unit: str) -> str:
        if side.score is None or (kind is not None and side.score.kind is not kind):
            return ABSENT
        return percentage(getattr(side.score, name))

    return read


def throttle_names(bits: int) -> list[str]:
    """Return what holds the clocks back, in words, by NVML's ``bits``."""
    return [name for bit, name in THROTTLE_REASONS.items() if bits & bit]


def _throttled(side: SideFacts, unit: str) -> str:
    bits = side.state.throttle_reasons
    if bits is None:
        return ABSENT
    names = throttle_names(bits)
    counted = [f"{plain(reason)} {scaled(moved, 's', 2)}" for reason, moved in side.state.violation_s.items()]
    return "; ".join(names + counted) or "none"


def _timer(side: SideFacts, unit: str) -> str:
    if not side.timers:
        return ABSENT
    unrolled = f", {side.number} calls a sample" if side.number and side.number > 1 else ""
    return f"{', '.join(plain(timer) for timer in side.timers)}{unrolled}"


def _cycles(side: SideFacts, unit: str) -> str:
    clock_hz = side.state.sm_clock_hz
    if side.time is None or clock_hz is None or side.null_s is None or unit != "seconds":
        return ABSENT
    return scaled(side.time.point * clock_hz, "", 4)


def _temperature(side: SideFacts, unit: str) -> str:
    celsius = side.state.temperature_c
    return ABSENT if celsius is None else f"{celsius:.0f} °C"


_TIME = "time, cold"
_KEPT_WITHOUT_HEAD = frozenset({_TIME, "timer", "failed rounds"})

_FIGURES: list[tuple[str, Callable[[SideFacts, str], str]]] = [
    (_TIME, lambda side, unit: _estimate(side.time, unit)),
    ("time, hot", lambda side, unit: quantity(side.hot_s, unit)),
    ("SOL score", _sol),
    ("MFU, rated", _share("mfu", CeilingKind.RATED)),
    ("MFU, rated at the clock seen", _share("mfu_at_clock")),
    ("MFU, sustained", _share("mfu_sustained")),
    ("MBU, rated", _share("mbu", CeilingKind.RATED)),
    ("MBU, sustained", _share("mbu_sustained")),
    ("compute achieved", lambda side, unit: scaled(side.score.flops_per_s, "FLOP/s") if side.score else ABSENT),
    ("memory achieved", lambda side, unit: scaled(side.score.bytes_per_s, "B/s") if side.score else ABSENT),
    ("energy per call, hot", lambda side, unit: scaled(side.energy_j, "J", 3)),
    ("null kernel", lambda side, unit: scaled(side.null_s, "s", 3)),
    ("kernels launched", lambda side, unit: ABSENT if side.launches is None else str(side.launches)),
    ("timer", _timer),
    ("samples", lambda side, unit: str(side.samples) if side.samples else ABSENT),
    ("clock cycles per call", _cycles),
    ("clock, mean", lambda side, unit: scaled(side.state.sm_clock_hz, "Hz")),
    ("temperature, highest", _temperature),
    ("power, highest", lambda side, unit: scaled(side.state.power_w, "W", 3)),
    ("clocks held back by", _throttled),
    ("failed rounds", lambda side, unit: str(len(side.failures)) if side.failures else ABSENT),
]
