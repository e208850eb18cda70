"""How far one call's time is from the speed of light of its device."""

import msgspec

from solwatch.model.cell import Work
from solwatch.model.errors import MachineError
from solwatch.model.record import Ceilings
from solwatch.model.strings import StrEnum


class Bound(StrEnum):
    """What limits the fastest possible call."""

    COMPUTE = "compute"
    MEMORY = "memory"


class CeilingKind(StrEnum):
    """Where a limit comes from: the device's own figures, or a measurement on it (all that a CPU has)."""

    RATED = "rated"
    MEASURED = "measured"


class CeilingExceededError(MachineError):
    """A cold time is below a rated T_SOL: the time, the work or the ceiling is wrong."""


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """The fastest that ``Work`` can be done.

    ``t_sol_s``: max(FLOPs / ``peak_flops``, fused bytes / ``peak_bandwidth``), in seconds; FLOP/s and bytes/s.
    """

    t_sol_s: float
    bound: Bound
    kind: CeilingKind
    peak_flops: float | None
    peak_bandwidth: float | None


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One time against a device's ceilings.

    ``sol_score``: T_SOL / T in (0, 1], ``None`` where the time beats a measured ceiling. ``sol_gap``: T / T_SOL,
    lower is better, ``None`` together with the score. ``mfu``, ``mbu``: achieved over peak, against the ceilings
    of ``kind``. ``mfu_sustained``, ``mbu_sustained``: against those measured on the device. ``mfu_at_clock``:
    against the rated throughput scaled to the SM clock seen during the run. ``flops_per_s``, ``bytes_per_s``:
    achieved. A figure whose ceiling is unknown is ``None``.
    """

    t_sol_s: float
    bound: Bound
    kind: CeilingKind
    sol_score: float | None
    sol_gap: float | None
    flops_per_s: float
    bytes_per_s: float
    mfu: float | None
    mbu: float | None
    mfu_sustained: float | None
    mbu_sustained: float | None
    mfu_at_clock: float | None


def sol_limit(work: Work, ceilings: Ceilings) -> Limit | None:
    """Return the limit of ``work``: by the rated ceilings where the device has them, else by the measured ones.

    ``None`` when neither kind has every ceiling that the work needs: a T_SOL from half of them would flatter.
    """
    rated = _limit(work, ceilings.rated_flops.get(work.dtype), ceilings.rated_bandwidth, CeilingKind.RATED)
    if rated is not None:
        return rated
    measured = ceilings.sustained_flops.get(work.dtype), ceilings.sustained_bandwidth
    return _limit(work, *measured, CeilingKind.MEASURED)


def ceiling_excess(limit: Limit, time_s: float) -> str | None:
    """Return a sentence when ``time_s`` is below the limit's T_SOL, else ``None``."""
    if time_s >= limit.t_sol_s:
        return None
    return (
        f"{time_s * 1e6:.4g} µs is below the {limit.kind} T_SOL of {limit.t_sol_s * 1e6:.4g} µs "
        f"({limit.bound} bound): check the work the cell declares, the ceilings (solwatch ceilings), and the timer"
    )


def score(work: Work, time_s: float, ceilings: Ceilings, *, sm_clock_hz: float | None = None) -> Score | None:
    """Return the score of a call that took ``time_s`` seconds, cold; ``None`` without ceilings for the work.

    ``sm_clock_hz``: mean SM clock during the run. Raises ``ValueError`` for a time that is not positive, and
    ``CeilingExceededError`` for one below a rated T_SOL, which no kernel can reach.
    """
    if not time_s > 0:
        raise ValueError(f"time_s is {time_s}, wanted a positive time")
    limit = sol_limit(work, ceilings)
    if limit is None:
        return None
    excess = ceiling_excess(limit, time_s)
    if excess and limit.kind is CeilingKind.RATED:
        raise CeilingExceededError(excess)
    flops_per_s = work.flops / time_s
    bytes_per_s = work.traffic_bytes / time_s
    return Score(
        t_sol_s=limit.t_sol_s,
        bound=limit.bound,
        kind=limit.kind,
        sol_score=None if excess else limit.t_sol_s / time_s,
        sol_gap=None if excess else time_s / limit.t_sol_s,
        flops_per_s=flops_per_s,
        bytes_per_s=bytes_per_s,
        mfu=_share(flops_per_s, limit.peak_flops),
        mbu=_share(bytes_per_s, limit.peak_bandwidth),
        mfu_sustained=_share(flops_per_s, ceilings.sustained_flops.get(work.dtype)),
        mbu_sustained=_share(bytes_per_s, ceilings.sustained_bandwidth),
        mfu_at_clock=_share(flops_per_s, _throughput_at_clock(work, ceilings, sm_clock_hz)),
    )


def _limit(work: Work, peak_flops: float | None, peak_bandwidth: float | None, kind: CeilingKind) -> Limit | None:
    if (work.flops > 0 and not peak_flops) or (work.traffic_bytes > 0 and not peak_bandwidth):
        return None
    compute_s = work.flops / peak_flops if peak_flops else 0.0
    memory_s = work.traffic_bytes / peak_bandwidth if peak_bandwidth else 0.0
    t_sol_s = max(compute_s, memory_s)
    if t_sol_s <= 0:
        return None
    bound = Bound.COMPUTE if compute_s >= memory_s else Bound.MEMORY
    return Limit(t_sol_s=t_sol_s, bound=bound, kind=kind, peak_flops=peak_flops, peak_bandwidth=peak_bandwidth)


def _throughput_at_clock(work: Work, ceilings: Ceilings, sm_clock_hz: float | None) -> float | None:
    rated = ceilings.rated_flops.get(work.dtype)
    if rated is None or not ceilings.rated_clock_hz or not sm_clock_hz:
        return None
    return rated * sm_clock_hz / ceilings.rated_clock_hz


def _share(achieved: float, peak: float | None) -> float | None:
    return achieved / peak if peak else None
