"""A GPU as the dispatch sees it, for questions about one that is not in this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Gpu"]


@dataclass(frozen=True)
class Gpu:
    """The facts that the choice of a kernel depends on; ``compute_capability`` is (major, minor)."""

    compute_capability: tuple[int, int]
    sm_count: int
    shared_memory_per_sm_bytes: int
    shared_memory_per_cta_bytes: int

    def facts(self) -> tuple[int, int, int, int]:
        """In the native operator's order, the capability as 10 × major + minor."""
        major, minor = self.compute_capability
        return (
            10 * major + minor,
            self.sm_count,
            self.shared_memory_per_sm_bytes,
            self.shared_memory_per_cta_bytes,
        )


def checked_alignment(alignment_bytes: Sequence[int]) -> tuple[int, ...]:
    """Return the four alignments; raises ValueError for one that rows can't have."""
    if len(alignment_bytes) != 4 or any(given not in (0, 2, 4, 8, 16) for given in alignment_bytes):
        raise ValueError(
            f"alignment_bytes is {tuple(alignment_bytes)}, wanted four of 0, 2, 4, 8 and 16: "
            "attn_output, residual, weight, out"
        )
    return tuple(alignment_bytes)
