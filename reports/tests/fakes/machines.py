"""Sources of facts about machines that don't exist."""

from collections.abc import Callable
from typing import TypeVar

from solwatch.app.doctor import Sources
from solwatch.model.machine import CompilerFacts, GpuFacts, HistoryFacts, TorchFacts

T = TypeVar("T")

H200 = GpuFacts(models=("NVIDIA H200",), driver="580.159", driver_cuda=(13, 0))
NO_GPU = GpuFacts(error="libnvidia-ml.so.1 not found")


def gpu_machine(
    *,
    gpu: GpuFacts = H200,
    torch: TorchFacts | None = TorchFacts(version="2.13.0+cu130", cuda="13.0"),  # noqa: B008 - frozen
    nvcc: CompilerFacts | None = CompilerFacts(path="/usr/bin/nvcc", version="13.0.88"),  # noqa: B008 - frozen
    compiler: CompilerFacts | None = CompilerFacts(path="/usr/bin/c++", version="c++ 12.2.0"),  # noqa: B008 - frozen
    history: HistoryFacts = HistoryFacts(commits=12, shallow=False),  # noqa: B008 - frozen
    asv_machine: str | None = "gpu-host",
    free: float = 50e9,
    check_op: Callable[[], str] = lambda: "agrees with its reference",
) -> Sources:
    """Return the sources of a machine on which all is well, but for what is given."""
    return Sources(
        gpu=_always(gpu),
        torch=_always(torch),
        nvcc=_always(nvcc),
        compiler=_always(compiler),
        history=_always(history),
        asv_machine=_always(asv_machine),
        free_bytes=_always(free),
        check_op=check_op,
    )


def _always(value: T) -> Callable[[], T]:
    return lambda: value
