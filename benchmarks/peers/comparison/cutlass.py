"""CUTLASS on Hopper: tiles, clusters and schedules compiled ahead, splits of k and swizzles chosen at run time."""

import ctypes
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peers.comparison.peer import Candidate, Case, Gpu

FOLDER = Path(__file__).resolve().parents[3] / "build" / "peers"
ARCHITECTURE = "sm_90a"
LIBRARY = f"libpeers_cutlass_{ARCHITECTURE}.so"
BUILD_COMMAND = "python -m benchmarks.peers build"

ELEMENTS = {"bfloat16": "bfloat16_t", "float16": "half_t"}
SHORT = {"bfloat16": "bf16", "float16": "fp16"}

WORKSPACE_BYTES = 256 << 20
"""For the float32 partial sums of 8 parts of 512 tokens × 8192, twice."""

STREAM_K = 0
"""In place of a number of parts: the scheduler balances the tiles' parts over all SMs."""


class NotBuiltError(Exception):
    """The library holds no kernel for a dtype."""


@dataclass(frozen=True)
class Kernel:
    """One instantiation: the tile's rows, columns and k, CTAs of a cluster along rows and columns, and its schedule.

    ``swapped``: rows are those of the weight and columns are tokens, else the other way round. ``schedule``: a
    cooperative kernel's two consumers share a tile, a pingpong's take turns. A ``stream_k`` kernel can split k.
    """

    rows: int
    columns: int
    k: int
    cluster: tuple[int, int] = (1, 1)
    schedule: str = "Cooperative"
    stream_k: bool = True
    swapped: bool = False

    def name(self, dtype: str) -> str:
        """Return the stem of its C functions' names."""
        return f"{SHORT[dtype]}_{self}"

    def __str__(self) -> str:
        return "_".join(
            [
                f"{self.rows}x{self.columns}x{self.k}",
                f"{self.cluster[0]}x{self.cluster[1]}",
                self.schedule.lower(),
                *(["streamk"] if self.stream_k else []),
                *(["swapped"] if self.swapped else []),
            ]
        )

    def instantiation(self, dtype: str) -> str:
        """Return the line of C++ that makes it out of the template."""
        scheduler = "StreamK" if self.stream_k else "Persistent"
        numbers = f"{self.rows}, {self.columns}, {self.k}, {self.cluster[0]}, {self.cluster[1]}"
        swapped = "true" if self.swapped else "false"
        arguments = f"gemm_{self.name(dtype)}, {ELEMENTS[dtype]}, {numbers}, {self.schedule}, {scheduler}, {swapped}"
        return f"PEER_GEMM({arguments})"


KERNELS = [
    # few tokens: the weight's rows fill the tile, a whole k block in flight
    Kernel(128, 16, 128, swapped=True),
    Kernel(128, 16, 128, cluster=(2, 1), swapped=True),
    Kernel(64, 16, 256, schedule="Pingpong", stream_k=False, swapped=True),
    Kernel(128, 32, 128, swapped=True),
    Kernel(64, 32, 128, schedule="Pingpong", stream_k=False, swapped=True),
    Kernel(128, 64, 128, swapped=True),
    Kernel(128, 64, 64, cluster=(2, 1), swapped=True),
    Kernel(64, 64, 128, schedule="Pingpong", stream_k=False, swapped=True),
    Kernel(128, 128, 64, swapped=True),
    Kernel(256, 64, 64, swapped=True),
    # many tokens
    Kernel(64, 128, 64, schedule="Pingpong", stream_k=False),
    Kernel(64, 256, 64, schedule="Pingpong", stream_k=False),
    Kernel(128, 128, 64),
    Kernel(128, 128, 64, cluster=(2, 1)),
    Kernel(128, 128, 64, schedule="Pingpong", stream_k=False),
    Kernel(128, 160, 64, cluster=(2, 1)),
    Kernel(128, 192, 64, cluster=(2, 1)),
    Kernel(128, 256, 64),
    Kernel(128, 256, 64, cluster=(2, 1)),
    Kernel(128, 256, 64, cluster=(2, 1), stream_k=False),
    Kernel(256, 128, 64, cluster=(2, 1), stream_k=False),
]
"""What is compiled. No pingpong kernel in a cluster: with a C to add, such kernels have been reported to hang."""

SWIZZLES = (1, 8)
WAVES = (0.4, 5.0)
"""Kernels and splits that would leave more than half of the SMs idle, or make more waves, are not tried split."""


@dataclass(frozen=True)
class Choice:
    """A kernel with what it takes at run time: parts of k (``STREAM_K`` to balance), tiles of a swizzled group."""

    kernel: Kernel
    parts: int
    swizzle: int

    def __str__(self) -> str:
        parts = "stream-k" if self.parts == STREAM_K else f"k in {self.parts}"
        return f"{self.kernel}, {parts}, swizzle {self.swizzle}"


def choices(case: Case, gpu: Gpu) -> list[Choice]:
    """Return what is tried for ``case`` on ``gpu``; the library still says which of them it can do."""
    found = []
    for kernel in KERNELS:
        narrow = kernel.columns if kernel.swapped else kernel.rows
        # a tile that is mostly beyond the last token reads the weight for nothing
        if (kernel.swapped and case.tokens > 4 * narrow) or (not kernel.swapped and case.tokens <= narrow // 2):
            continue
        tokens_side, weight_side = (kernel.columns, kernel.rows) if kernel.swapped else (kernel.rows, kernel.columns)
        tiles = -(-case.tokens // tokens_side) * -(-case.shape.n // weight_side)
        parts = [1]
        if kernel.stream_k:
            steps = case.shape.k // kernel.k
            parts += [
                count
                for count in (2, 3, 4, 8, 16)
                if steps >= 2 * count and WAVES[0] <= tiles * count / gpu.sm_count <= WAVES[1]
            ]
            parts.append(STREAM_K)
        swizzles = SWIZZLES if tiles > 2 * gpu.sm_count else SWIZZLES[:1]
        found += [Choice(kernel, count, swizzle) for count in parts for swizzle in swizzles]
    return found


class CutlassPeer:
    """CUTLASS with the residual as C and beta = 1, swept; the library is built ahead by ``BUILD_COMMAND``."""

    name = "CUTLASS"
    summary = f"CUTLASS 4, {len(KERNELS)} kernels for {ARCHITECTURE}, stream-k and split k, C = residual, swept"
    limit_s = 60.0

    def __init__(self, folder: Path = FOLDER) -> None:
        """Look for the library in ``folder``; nothing is loaded yet."""
        self._path = folder / LIBRARY
        self._library: ctypes.CDLL | None = None
        self._workspace: Any = None
        self._gpu: Gpu | None = None

    def obstacle(self, gpu: Gpu) -> str | None:
        """Return what is missing."""
        self._gpu = gpu
        if gpu.capability != (9, 0):
            return f"its kernels are for {ARCHITECTURE}, this GPU is sm_{gpu.capability[0]}{gpu.capability[1]}"
        if self._path.is_file():
            return None
        headers = "" if find_headers() else " after pip install nvidia-cutlass"
        return f"build/peers/{LIBRARY} is not built: run {BUILD_COMMAND}{headers}; it needs nvcc, no GPU"

    def candidates(self, case: Case) -> Sequence[Candidate]:
        """Return the choices that the library can do within the workspace; raises ``NotBuiltError`` without any."""
        import torch

        if self._gpu is None:
            return []
        if self._library is None:
            self._library = ctypes.CDLL(str(self._path))
            self._workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device="cuda")
        found = []
        for choice in choices(case, self._gpu):
            functions = bound(self._library, choice.kernel.name(case.dtype))
            if functions is None:
                continue
            needed, run = functions
            if 0 <= needed(case.tokens, *_sizes(case), choice.parts, choice.swizzle) <= WORKSPACE_BYTES:
                found.append(Candidate(str(choice), partial(_run, run, choice, self._workspace)))
        if not found:
            raise NotBuiltError(f"{LIBRARY} has no kernel for {case.dtype}: run {BUILD_COMMAND} --dtype {case.dtype}")
        return found


def bound(library: ctypes.CDLL, name: str) -> tuple[Any, Any] | None:
    """Return the two C functions of the kernel ``name`` with their types, ``None`` where it was not built."""
    try:
        needed, run = library[f"gemm_{name}_workspace"], library[f"gemm_{name}_run"]
    except AttributeError:
        return None
    needed.restype, needed.argtypes = ctypes.c_int64, [ctypes.c_int] * 5
    run.restype = ctypes.c_int
    run.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int] * 5 + [ctypes.c_void_p] * 2
    return needed, run


def find_headers() -> Path | None:
    """Return the folder of CUTLASS's sources that its package brings along (``include`` and ``tools`` in it)."""
    spec = importlib.util.find_spec("cutlass_library")
    for folder in spec.submodule_search_locations or () if spec else ():
        source = Path(folder) / "source"
        if (source / "include" / "cutlass" / "cutlass.h").is_file():
            return source
    return None


def _sizes(case: Case) -> tuple[int, int]:
    return case.shape.n, case.shape.k


def _run(
    run: Any,
    choice: Choice,
    workspace: Any,
    attn_output: Any,
    residual: Any,
    o_proj_weight: Any,
    out: Any,
    inout: Any,
) -> Any:
    import torch

    tokens, k = attn_output.shape
    status = run(
        attn_output.data_ptr(), o_proj_weight.data_ptr(), residual.data_ptr(), out.data_ptr(),
        tokens, o_proj_weight.shape[0], k, choice.parts, choice.swizzle,
        workspace.data_ptr(), torch.cuda.current_stream().cuda_stream,
    )  # fmt: skip
    if status:
        raise RuntimeError(f"CUTLASS returned status {status - 1} for {choice}")
    return out
