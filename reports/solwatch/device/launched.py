"""The kernels in the captured graph of a call, as the driver would launch them."""

from collections.abc import Iterator, Sequence
from typing import Any

from solwatch.device.driver import checked, driver
from solwatch.model.errors import MachineError
from solwatch.model.plain import plain
from solwatch.model.why import Launch

MOST_KERNELS = 64
"""A call with more launches is a whole model: none of its kernels alone explains it."""

_NAME_LIMIT = 2000


def nodes_of(graph: Any) -> Iterator[tuple[str, Any]]:
    """Yield kind (``KERNEL``, ``MEMCPY``) and handle of each node of ``graph``, those of graphs in it among them."""
    _, count = checked("cuGraphGetNodes", graph, 0)
    nodes, _ = checked("cuGraphGetNodes", graph, count) if count else ([], 0)
    for node in nodes:
        kind = checked("cuGraphNodeGetType", node).name.removeprefix("CU_GRAPH_NODE_TYPE_")
        if kind == "GRAPH":
            yield from nodes_of(checked("cuGraphChildGraphNodeGetGraph", node))
        else:
            yield kind, node


def launched_kernels(graph: Any) -> list[Launch] | None:
    """Return the kernels of ``graph`` in order, ``None`` where the driver can't tell or there are too many.

    What it doesn't tell costs nothing but that: no measurement rests on it.
    """
    try:
        nodes = [node for kind, node in nodes_of(graph) if kind == "KERNEL"]
        return [_launch(node) for node in nodes] if len(nodes) <= MOST_KERNELS else None
    except (MachineError, AttributeError, TypeError, ValueError, UnicodeDecodeError):
        return None  # an older driver or older bindings: cuFuncGetName came with CUDA 12.3


def _launch(node: Any) -> Launch:
    params = checked("cuGraphKernelNodeGetParams", node)
    function = params.func if int(params.func) else checked("cuKernelGetFunction", params.kern)
    name = checked("cuFuncGetName", function)
    block = [int(params.blockDimX), int(params.blockDimY), int(params.blockDimZ)]
    dynamic = int(params.sharedMemBytes)
    return Launch(
        kernel=plain(name.decode(), _NAME_LIMIT),
        grid=[int(params.gridDimX), int(params.gridDimY), int(params.gridDimZ)],
        block=block,
        dynamic_shared_bytes=dynamic,
        static_shared_bytes=_attribute(function, "SHARED_SIZE_BYTES"),
        registers=_attribute(function, "NUM_REGS"),
        local_bytes=_attribute(function, "LOCAL_SIZE_BYTES"),
        blocks_per_sm=_blocks_per_sm(function, block, dynamic),
    )


def _attribute(function: Any, name: str) -> int | None:
    attribute = getattr(driver().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    try:
        return int(checked("cuFuncGetAttribute", attribute, function))
    except MachineError:
        return None


def _blocks_per_sm(function: Any, block: Sequence[int], dynamic_shared_bytes: int) -> int | None:
    threads = block[0] * block[1] * block[2]
    try:
        return int(checked("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, threads, dynamic_shared_bytes))
    except MachineError:
        return None
