"""What a peer is: something that can compute the op's result, in one or more ways of which the fastest counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.layers import LAYERS, Layer


@dataclass(frozen=True, order=True)
class Case:
    """One cell of the comparison: ``tokens`` rows through the projection named ``layer``, in ``dtype``."""

    tokens: int
    layer: str
    dtype: str = "bfloat16"

    @property
    def shape(self) -> Layer:
        """The projection's ``k`` and ``n``."""
        return LAYERS[self.layer]

    def __str__(self) -> str:
        return f"{self.tokens} × {self.layer}"


@dataclass(frozen=True)
class Gpu:
    """The GPU that is measured on; ``capability``: (9, 0) for sm_90."""

    index: int
    capability: tuple[int, int]
    sm_count: int


@dataclass(frozen=True)
class Candidate:
    """One way to compute a case.

    ``call(**tensors)`` does it on the current stream and returns the tensor that holds the result [tokens, n]. The
    tensors are ``attn_output`` [tokens, k], ``residual`` [tokens, n], ``o_proj_weight`` [n, k], ``out`` [tokens, n]
    to write to, and ``inout`` [tokens, n], a copy of the residual for those that overwrite it (``in_place``): it is
    put back, untimed, before any buffer is used twice.
    """

    name: str
    call: Callable[..., Any]
    in_place: bool = False


class Peer(Protocol):
    """What the op is compared with.

    ``name`` heads its column; ``summary`` is one line about it. ``limit_s``: a candidate whose first calls, and what
    they compile, take longer is taken to hang.
    """

    name: str
    summary: str
    limit_s: float

    def obstacle(self, gpu: Gpu) -> str | None:
        """Return why it can't run on ``gpu`` at all, with what to install, ``None`` when it can."""

    def candidates(self, case: Case) -> Sequence[Candidate]:
        """Return the ways to compute ``case``, none where it is not for it; compiles and loads what they need."""
