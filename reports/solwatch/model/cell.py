"""A cell: one benchmark with one combination of parameters, and what a suite says about it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import msgspec

from solwatch.model.strings import StrEnum

Tensors = Mapping[str, Any]
"""Named tensors of one buffer set; ``Any`` because the model never imports torch."""


class Timer(StrEnum):
    """How one call is timed; the first is the default on a GPU, ``WALL`` is the only one on a CPU."""

    HELD = "held"
    GRAPH = "graph"
    EVENTS = "events"
    CUPTI = "cupti"
    WALL = "wall"


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """The work one call must do, whoever does it.

    ``flops``: floating-point operations. ``traffic_bytes``: fused bytes, each input read once and each
    output written once. ``dtype``: the inputs' torch name (``bfloat16``), which picks the throughput ceiling.
    """

    flops: float
    traffic_bytes: float
    dtype: str


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What a suite declares for one combination of parameters.

    ``make_inputs(device, seed)`` returns the named tensors of one buffer set, the output among them; the same
    seed gives the same data. ``call(**tensors)`` is what is timed. ``check(**tensors)`` runs after a call and
    raises ``AssertionError`` with one line when the output is wrong. The sampler may copy the tensors to other
    places in memory before a call. ``ranks``: GPUs that one call runs on; more than one is out of scope.
    ``explain(device)`` tells, without making the call, what it would run: names (``kernel``, ``tile``, ``threads``)
    to numbers, texts or lists of numbers. It is shown beside a cell that got slower, base beside head.
    """

    make_inputs: Callable[[str, int], Tensors]
    call: Callable[..., Any]
    work: Work
    check: Callable[..., None]
    timer: Timer | None = None
    ranks: int = 1
    explain: Callable[[str], Mapping[str, Any]] | None = None


@runtime_checkable
class CellSuite(Protocol):
    """An asv benchmark class whose cells solwatch measures itself; how discovery recognises one.

    ``params`` and ``param_names`` are asv's. ``sets`` maps a set's name to the parameter combinations in it.
    ``device`` is the device type its cells run on (``cuda``, ``cpu``). Peers have ``gated = False``.
    """

    params: list[list[Any]]
    param_names: list[str]
    sets: Mapping[str, list[tuple[Any, ...]]]
    device: str
    gated: bool

    def cell(self, *params: Any) -> Cell:
        """Return the cell for one combination; imports torch and the op only now."""


class CellInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A cell as discovery lists it: its name, and where asv knows it.

    ``key`` is the cell's name everywhere (``o_proj.OProj(16, 'llama-3-8b')``). ``benchmark`` is the asv name
    without the method for a solwatch suite, with it for an ordinary benchmark. ``gated`` is false for peers.
    ``axes``: all values of each of the benchmark's parameters, by name.
    ``kind``: ``suite`` (has work and a reference), ``asv`` (any other asv benchmark) or ``null`` (the kernel that does
    nothing, timed in turn with the others). ``version``: asv's, results
    under different ones are never compared. ``type``: asv's (``time``, ``track``, ``memory``, ``peakmemory``).
    """

    key: str
    benchmark: str
    params: list[str]
    param_names: list[str]
    kind: str
    axes: list[list[str]] = msgspec.field(default_factory=list)
    gated: bool = True
    device: str | None = None
    sets: list[str] = msgspec.field(default_factory=list)
    unit: str = "seconds"
    version: str = ""
    type: str = "time"


@dataclass(frozen=True)
class CellSelection:
    """Which cells a command measures: a named set and regular expressions on keys (asv's ``-b``)."""

    named_set: str | None = None
    patterns: tuple[str, ...] = field(default_factory=tuple)
