"""The kernels of a captured call, from a driver that is a script: what it doesn't tell is left out, nothing fails."""

from types import SimpleNamespace
from typing import Any

import pytest

from solwatch.device.launched import MOST_KERNELS, launched_kernels, nodes_of
from solwatch.model.why import Launch

Node = dict[str, Any]


class GraphDriver:
    """Knows graphs that are lists of nodes; functions are their names."""

    CUfunction_attribute = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_NUM_REGS="registers",
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES="shared",
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES="local",
    )

    def __init__(self, **refused: int) -> None:
        self.refused = refused

    def _answer(self, name: str, *results: Any) -> tuple[Any, ...]:
        return (self.refused.get(name, 0), *results)

    def cuGraphGetNodes(self, graph: list[Node], count: int) -> tuple[Any, ...]:
        return self._answer("nodes", graph[:count] if count else [], len(graph))

    def cuGraphNodeGetType(self, node: Node) -> tuple[Any, ...]:
        return self._answer("type", SimpleNamespace(name=f"CU_GRAPH_NODE_TYPE_{node['kind']}"))

    def cuGraphChildGraphNodeGetGraph(self, node: Node) -> tuple[Any, ...]:
        return self._answer("child", node["graph"])

    def cuGraphKernelNodeGetParams(self, node: Node) -> tuple[Any, ...]:
        x, y, z = node["grid"]
        a, b, c = node["block"]
        return self._answer(
            "params",
            SimpleNamespace(
                func=node.get("func", 0), kern=node.get("kern", 0), sharedMemBytes=node["shared"],
                gridDimX=x, gridDimY=y, gridDimZ=z, blockDimX=a, blockDimY=b, blockDimZ=c,
            ),
        )  # fmt: skip

    def cuKernelGetFunction(self, kernel: int) -> tuple[Any, ...]:
        return self._answer("function", kernel + 100)

    def cuFuncGetName(self, function: int) -> tuple[Any, ...]:
        return self._answer("name", f"_Z{function}k".encode())

    def cuFuncGetAttribute(self, attribute: str, function: int) -> tuple[Any, ...]:
        return self._answer(attribute, {"registers": 168, "shared": 1024, "local": 48}[attribute])

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, function: int, threads: int, shared: int) -> tuple[Any, ...]:
        return self._answer("occupancy", 227 * 1024 // shared if shared else 16)

    def cuGetErrorName(self, status: int) -> tuple[int, bytes]:
        return 0, b"CUDA_ERROR_NOT_SUPPORTED"

    def cuGetErrorString(self, status: int) -> tuple[int, bytes]:
        return 0, b"not supported"


KERNEL: Node = {"kind": "KERNEL", "grid": (64, 2, 1), "block": (128, 1, 1), "shared": 48 << 10, "func": 7}
IN_CHILD: Node = {**KERNEL, "func": 0, "kern": 3}
GRAPH: list[Node] = [{"kind": "MEMSET"}, KERNEL, {"kind": "GRAPH", "graph": [IN_CHILD]}]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Any:
    def chosen(**refused: int) -> None:
        driver = GraphDriver(**refused)
        for module in ("driver", "launched"):
            monkeypatch.setattr(f"solwatch.device.{module}.driver", lambda: driver)

    return chosen


def test_kernels_are_listed_in_order_those_of_inner_graphs_among_them(use: Any) -> None:
    use()
    assert [kind for kind, _ in nodes_of(GRAPH)] == ["MEMSET", "KERNEL", "KERNEL"]
    first, second = launched_kernels(GRAPH) or []
    assert first == Launch(
        kernel="_Z7k",
        grid=[64, 2, 1],
        block=[128, 1, 1],
        dynamic_shared_bytes=48 << 10,
        static_shared_bytes=1024,
        registers=168,
        local_bytes=48,
        blocks_per_sm=4,
    )
    assert (second.kernel, first.threads) == ("_Z103k", 128)


def test_what_an_old_driver_does_not_tell_is_left_out(use: Any) -> None:
    use(registers=801, occupancy=801)
    (found,) = launched_kernels([KERNEL]) or []
    assert (found.registers, found.blocks_per_sm, found.local_bytes) == (None, None, 48)
    use(name=500)
    assert launched_kernels([KERNEL]) is None


def test_a_call_of_a_whole_model_is_not_listed(use: Any) -> None:
    use()
    assert len(launched_kernels([KERNEL] * MOST_KERNELS) or []) == MOST_KERNELS
    assert launched_kernels([KERNEL] * (MOST_KERNELS + 1)) is None
    assert launched_kernels([]) == []
