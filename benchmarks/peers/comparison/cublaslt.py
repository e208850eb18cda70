"""cuBLASLt with C apart from D: what NVIDIA's own library does when it is asked for exactly the op."""

import importlib.util
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.peers.comparison.cublaslt_library import CublasLt, Heuristic, Product, find_library, plan_projection
from benchmarks.peers.comparison.peer import Candidate, Case, Gpu

WORKSPACE_BYTES = 64 << 20
"""Twice what NVIDIA recommends for Hopper: no algorithm is left out for want of it."""

MOST_HEURISTICS = 128
"""More than the library has ever returned for one shape: all of its results are timed."""


class CublasLtPeer:
    """``cublasLtMatmul`` with beta = 1; every result of its heuristic is a candidate."""

    name = "cublasLt"
    summary = f"cublasLtMatmul, C apart from D, beta = 1, {WORKSPACE_BYTES >> 20} MB of workspace, best heuristic"
    limit_s = 60.0

    def __init__(self) -> None:
        """Load nothing yet."""
        self._library: CublasLt | None = None
        self._workspace: Any = None

    def obstacle(self, gpu: Gpu) -> str | None:
        """Return why the library isn't there."""
        if importlib.util.find_spec("torch") is not None:
            import torch  # noqa: F401 - brings along, and loads, the library that it was built for
        if find_library() is None:
            return "libcublasLt.so.13 is not found: pip install nvidia-cublas, or a torch built with CUDA"
        return None

    def candidates(self, case: Case) -> Sequence[Candidate]:
        """Return one candidate for each result of the heuristic, in its order."""
        import torch

        if self._library is None:
            self._library = CublasLt(find_library() or "")
            self._workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device="cuda")
        plan = plan_projection(case.tokens, case.shape.n, case.shape.k, case.dtype)
        product = Product(self._library, plan, WORKSPACE_BYTES)
        return [
            Candidate(f"heuristic {place}", partial(_multiply, product, found, self._workspace))
            for place, found in enumerate(product.heuristics(MOST_HEURISTICS))
        ]


def _multiply(
    product: Product,
    heuristic: Heuristic,
    workspace: Any,
    attn_output: Any,
    residual: Any,
    o_proj_weight: Any,
    out: Any,
    inout: Any,
) -> Any:
    import torch

    product.run(
        heuristic,
        a=o_proj_weight.data_ptr(),
        b=attn_output.data_ptr(),
        c=residual.data_ptr(),
        d=out.data_ptr(),
        workspace=workspace.data_ptr(),
        stream=torch.cuda.current_stream().cuda_stream,
    )
    return out
