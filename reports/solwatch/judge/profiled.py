"""What Nsight Compute counted on both sides, and what of it tells why one is slower."""

from collections.abc import Sequence

from solwatch.model.why import Profile, ProfilePair

LEAST_CHANGE = 0.05
"""Below this share two counts of one and the same kernel differ from run to run."""


def profile_sentences(pair: ProfilePair, worse: bool) -> list[str]:
    """Return what changed in the direction of the verdict: traffic to memory, and what warps wait for."""
    if not pair.head or not pair.base:
        return []
    return [*_traffic(pair, worse), *_stalls(pair, worse)]


def _traffic(pair: ProfilePair, worse: bool) -> list[str]:
    head, base = _bytes(pair.head), _bytes(pair.base)
    if not head or not base or not _moved(head, base, worse):
        return []
    return [f"DRAM traffic {_mb(base)} → {_mb(head)} a call (ncu)"]


def _stalls(pair: ProfilePair, worse: bool) -> list[str]:
    """Name the wait that accounts for most of the change, where it is one kernel that can be compared."""
    if len(pair.head) != 1 or len(pair.base) != 1:
        return []
    head, base = pair.head[0].stalls, pair.base[0].stalls
    total_head, total_base = sum(head.values()), sum(base.values())
    if not total_base or not _moved(total_head, total_base, worse):
        return []
    changes = {reason: head[reason] - base[reason] for reason in head if reason in base}
    reason = max(changes, key=lambda name: changes[name] if worse else -changes[name], default=None)
    if reason is None or abs(changes[reason]) < abs(total_head - total_base) / 2:
        return []
    wait = "longer" if worse else "shorter"
    return [f"warps wait {wait} for {reason}: {base[reason]:.3g} → {head[reason]:.3g} cycles an instruction (ncu)"]


def _bytes(launches: Sequence[Profile]) -> float | None:
    known = [launch.dram_bytes for launch in launches]
    return None if None in known else sum(each for each in known if each is not None)


def _moved(head: float, base: float, worse: bool) -> bool:
    return head >= (1 + LEAST_CHANGE) * base if worse else head <= (1 - LEAST_CHANGE) * base


def _mb(size_bytes: float) -> str:
    return f"{size_bytes / 1e6:.3g} MB"
