"""What one call does: how many launches, and whether a closed gate can hold it.

The call is captured as a CUDA graph. Capturing fails when it synchronises, allocates with cudaMalloc, or uses the
legacy stream: all that would wait for ever behind a closed gate. Work that goes to another stream without waiting for
this one would run before the gate opens and escape the timing. It isn't in the graph: replaying then leaves an output
unwritten, and a second capture that torch's other streams take part in has more nodes than the first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from solwatch.device.driver import checked, driver, error_text
from solwatch.device.launched import launched_kernels, nodes_of
from solwatch.device.preparing import poison
from solwatch.device.sampler import fits_queue
from solwatch.device.stage import Stage
from solwatch.model.why import Launch

_LAUNCHING = ("KERNEL", "MEMCPY", "MEMSET")
_STREAMS_IN_POOL = 32


@dataclass(frozen=True)
class Detected:
    """``launches``: kernels, copies and fills of one call, ``None`` when it can't be captured. ``obstacle``: why a
    closed gate can't hold the call, ``None`` when it can. ``escapes``: whether it has work that its stream's events
    don't cover. ``kernels``: those launched, ``None`` where they can't be told."""

    launches: int | None
    obstacle: str | None = None
    escapes: bool = False
    kernels: list[Launch] | None = None


@dataclass(frozen=True)
class _Replayed:
    """A call captured and replayed: its launches, why it can't be captured, which outputs a replay leaves unwritten."""

    launches: int = 0
    kernels: list[Launch] | None = None
    failure: str | None = None
    unwritten: Sequence[str] = ()


def detect(stage: Stage, call: Callable[..., Any], tensors: Mapping[str, Any], source: Mapping[str, Any]) -> Detected:
    """Look at one call on ``tensors``, a copy of ``source`` on which the call has run before.

    Leaves ``tensors`` with the result of a call. Raises what the call raises outside capture.
    """
    pristine = _restored(tensors, source)
    allocations = _allocations_of_a_call(stage, call, tensors)
    if allocations:
        return Detected(None, f"the call allocates device memory every time ({allocations} cudaMalloc)")
    written = [name for name, value in pristine.items() if not _same_bytes(tensors[name], value)]
    replayed = _replayed(stage, call, tensors, source, written)
    if replayed.failure is not None:
        return Detected(None, f"the call synchronises, allocates or uses the legacy stream ({replayed.failure})")
    launches, kernels = replayed.launches, replayed.kernels
    if launches == 0:
        return Detected(
            0,
            "the call launches nothing on the current stream: its work is on another stream, or on the host",
            escapes=True,
        )
    if replayed.unwritten:
        unwritten = ", ".join(replayed.unwritten)
        return Detected(launches, f"{unwritten} is written on another stream", escapes=True)
    elsewhere = _launches_elsewhere(stage, call, tensors, launches)
    if elsewhere is not None:
        return Detected(launches, elsewhere, escapes=True)
    if not fits_queue(launches):
        obstacle = f"the call's {launches} launches don't fit the launch queue behind a closed gate"
        return Detected(launches, obstacle, kernels=kernels)
    return Detected(launches, kernels=kernels)


def _replayed(
    stage: Stage,
    call: Callable[..., Any],
    tensors: Mapping[str, Any],
    source: Mapping[str, Any],
    written: Sequence[str],
) -> _Replayed:
    """Capture a call and replay it; ``written``: the tensors that a call writes."""
    graph, failure = _captured(stage, call, tensors, [])
    if failure is not None:
        return _Replayed(failure=failure)
    try:
        launches = _launches(graph)
        if launches == 0:
            return _Replayed()
        kernels = launched_kernels(graph)
        pristine = _restored(tensors, source)
        _replay(stage, graph)
        unwritten = [name for name in written if _same_bytes(tensors[name], pristine[name])]
        return _Replayed(launches, kernels, unwritten=unwritten)
    finally:
        checked("cuGraphDestroy", graph)


def _launches_elsewhere(
    stage: Stage, call: Callable[..., Any], tensors: Mapping[str, Any], launches: int
) -> str | None:
    """Return what tells that the call has work on one of torch's streams that doesn't wait for the current one."""
    graph, failure = _captured(stage, call, tensors, _torch_streams(stage))
    if failure is not None:
        return f"the call uses other streams ({failure})"
    try:
        elsewhere = _launches(graph) - launches
    finally:
        checked("cuGraphDestroy", graph)
    return f"{elsewhere} of the call's launches go to another stream that doesn't wait" if elsewhere > 0 else None


def _torch_streams(stage: Stage) -> list[Any]:
    """Return the streams that torch hands out: each pool goes round after 32, so this sees them all."""
    handles = {
        torch.cuda.Stream(stage.device, priority=priority).cuda_stream  # type: ignore[no-untyped-call]
        for priority in (0, -1)
        for _ in range(_STREAMS_IN_POOL)
    }
    return [driver().CUstream(handle) for handle in sorted(handles - {int(stage.handle)})]


def _allocations_of_a_call(stage: Stage, call: Callable[..., Any], tensors: Mapping[str, Any]) -> int:
    """Return the cudaMalloc calls of torch's allocator in a call that isn't the first."""
    call(**tensors)
    stage.synchronize()
    before = torch.cuda.memory_stats(stage.device).get("num_device_alloc", 0)
    call(**tensors)
    stage.synchronize()
    return int(torch.cuda.memory_stats(stage.device).get("num_device_alloc", 0) - before)


def _captured(
    stage: Stage, call: Callable[..., Any], tensors: Mapping[str, Any], others: Sequence[Any]
) -> tuple[Any, str | None]:
    """Return the graph of one call, in whose capture the streams ``others`` take part, or why it can't be captured.

    The driver captures, not torch: torch's allocator would be left in its capturing state by a failure. Memory
    that the call takes from the allocator's cache is free again when the graph is replayed, once, at once.
    """
    cuda = driver()
    events = [checked("cuEventCreate", cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING) for _ in range(len(others) + 1)]
    checked("cuStreamBeginCapture", stage.handle, cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL)
    failure = None
    try:
        _order(stage.handle, events[0], others)
        call(**tensors)
        for other, event in zip(others, events[1:], strict=True):
            _order(other, event, [stage.handle])
    except torch.OutOfMemoryError:
        cuda.cuStreamEndCapture(stage.handle)
        raise
    except Exception as error:  # whatever a call raises because it is being captured is the finding
        failure = _first_line(error)
    status, graph = cuda.cuStreamEndCapture(stage.handle)
    for event in events:
        checked("cuEventDestroy", event)
    if status:
        failure = failure or error_text(status)
    elif failure is not None:
        checked("cuGraphDestroy", graph)
    return graph, failure


def _order(first: Any, event: Any, later: Sequence[Any]) -> None:
    """Make the streams ``later`` wait for what is on ``first`` now."""
    if later:
        checked("cuEventRecord", event, first)
    for stream in later:
        checked("cuStreamWaitEvent", stream, event, 0)


def _launches(graph: Any) -> int:
    return sum(kind in _LAUNCHING for kind, _ in nodes_of(graph))


def _replay(stage: Stage, graph: Any) -> None:
    executable = checked("cuGraphInstantiate", graph, 0)
    checked("cuGraphLaunch", executable, stage.handle)
    stage.synchronize()
    checked("cuGraphExecDestroy", executable)


def _restored(tensors: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Put the inputs back, poison the output, and return copies of those whose change can be seen from here."""
    seen = []
    for name, value in tensors.items():
        if isinstance(value, torch.Tensor) and value is not source[name]:
            value.copy_(source[name])
            seen.append(name)
    if poison(tensors) and "out" not in seen:
        seen.append("out")
    return {name: tensors[name].detach().clone() for name in seen}


def _same_bytes(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Return whether two tensors of the same shape hold the same bits, NaN or not."""
    return torch.equal(first.contiguous().flatten().view(torch.uint8), second.contiguous().flatten().view(torch.uint8))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
