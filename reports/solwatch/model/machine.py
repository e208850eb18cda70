"""What a machine has that measuring needs: GPUs and their driver, torch, the CUDA compiler, history, disk."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class GpuFacts:
    """The GPUs as the driver shows them.

    ``models``: one name for each GPU that this process may use. ``driver``: its version. ``driver_cuda``: newest
    CUDA version that the driver runs, (13, 0). ``error``: why nothing could be asked. ``unreadable``: names of
    the readings that the first GPU refuses. ``other_processes``: process ids on it that are not ours.
    """

    models: tuple[str, ...] = ()
    driver: str | None = None
    driver_cuda: tuple[int, int] | None = None
    error: str | None = None
    unreadable: tuple[str, ...] = ()
    other_processes: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Card:
    """A GPU as CUDA shows it to this process.

    ``name``: a slice has one of its own, ``NVIDIA H200 MIG 1g.18gb``. ``capability``: compute capability, (9, 0).
    """

    name: str
    capability: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class TorchFacts:
    """The installed torch: its version, and the CUDA version it is built for (``None``: a build without CUDA)."""

    version: str
    cuda: str | None


@dataclass(frozen=True, kw_only=True)
class CompilerFacts:
    """A compiler: where it is and the version it reports (``None``: it runs, but tells none)."""

    path: str
    version: str | None


@dataclass(frozen=True, kw_only=True)
class HistoryFacts:
    """How much history a clone has: commits reachable from HEAD, and whether it was cut off."""

    commits: int
    shallow: bool
