"""The few functions of cuBLASLt that a matrix product with a separate C takes, through ctypes.

Numbers and structures are those of cublasLt.h, the same in CUDA 12 and 13.
"""

import ctypes
import glob
import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LIBRARIES = ("libcublasLt.so.13", "libcublasLt.so.12")

DATA_TYPE = {"float32": 0, "float16": 2, "bfloat16": 14}
"""cudaDataType_t."""

_COMPUTE_32F = 68
_TRANSPOSED, _PLAIN = 1, 0
_DESC_TRANSA, _DESC_TRANSB = 3, 4
_PREF_MAX_WORKSPACE_BYTES = 1
_LAYOUT = {"type": (0, ctypes.c_uint32), "rows": (2, ctypes.c_uint64), "columns": (3, ctypes.c_uint64)}
_LAYOUT_LD = (4, ctypes.c_int64)


class CublasLtError(RuntimeError):
    """A call of the library failed; the message names it and the status."""


class Algorithm(ctypes.Structure):
    """cublasLtMatmulAlgo_t."""

    _fields_ = (("data", ctypes.c_uint64 * 8),)


class Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", Algorithm),
        ("workspace_bytes", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


@dataclass(frozen=True)
class Plan:
    """One product in the library's words: column-major D[m, n] = op(A) op(B) + C, with leading dimensions.

    ``a``, ``b``, ``c``: rows, columns and leading dimension of each matrix as it is stored; D is stored as C is.
    """

    dtype: str
    transpose_a: bool
    transpose_b: bool
    a: tuple[int, int, int]
    b: tuple[int, int, int]
    c: tuple[int, int, int]


def plan_projection(tokens: int, n: int, k: int, dtype: str) -> Plan:
    """Return the plan of out[tokens, n] = attn[tokens, k] weight[n, k]^T + residual[tokens, n], all row-major.

    A row-major matrix is the transposed one in column-major order. So out^T[n, tokens] = weight attn^T + residual^T:
    A is the weight, stored [k, n] and transposed, B is attn, stored [k, tokens] and taken as it is.
    """
    return Plan(dtype, True, False, a=(k, n, k), b=(k, tokens, k), c=(n, tokens, n))


def find_library() -> str | None:
    """Return what to hand to the loader: the library that a torch of pip brings along, else one the system has."""
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for name in LIBRARIES:
            found = sorted(glob.glob(os.path.join(folder, "*", "lib", name)))
            if found:
                return found[-1]
    for name in LIBRARIES:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return name
    return None


class CublasLt:
    """The library; ``multiply`` needs a handle, which needs a GPU, the layouts don't."""

    def __init__(self, path: str) -> None:
        """Load ``path``; raises ``OSError``."""
        self.library = ctypes.CDLL(path)
        self._handle: ctypes.c_void_p | None = None

    def layout(self, dtype: str, rows: int, columns: int, leading: int) -> ctypes.c_void_p:
        """Return a column-major layout."""
        made = ctypes.c_void_p()
        self._call(
            "cublasLtMatrixLayoutCreate",
            ctypes.byref(made),
            ctypes.c_int(DATA_TYPE[dtype]),
            ctypes.c_uint64(rows),
            ctypes.c_uint64(columns),
            ctypes.c_int64(leading),
        )
        return made

    def told_layout(self, layout: ctypes.c_void_p) -> dict[str, int]:
        """Return what the library has noted of a layout."""
        return {
            name: self._get("cublasLtMatrixLayoutGetAttribute", layout, attribute, kind)
            for name, (attribute, kind) in (_LAYOUT | {"leading": _LAYOUT_LD}).items()
        }

    def operation(self, plan: Plan) -> ctypes.c_void_p:
        """Return the descriptor of a product accumulated and scaled in float32."""
        made = ctypes.c_void_p()
        self._call("cublasLtMatmulDescCreate", ctypes.byref(made), _COMPUTE_32F, DATA_TYPE["float32"])
        for attribute, transposed in ((_DESC_TRANSA, plan.transpose_a), (_DESC_TRANSB, plan.transpose_b)):
            self._set(
                "cublasLtMatmulDescSetAttribute",
                made,
                attribute,
                ctypes.c_int32(_TRANSPOSED if transposed else _PLAIN),
            )
        return made

    def preference(self, workspace_bytes: int) -> ctypes.c_void_p:
        """Return a preference that allows so much workspace."""
        made = ctypes.c_void_p()
        self._call("cublasLtMatmulPreferenceCreate", ctypes.byref(made))
        limit = ctypes.c_uint64(workspace_bytes)
        self._set("cublasLtMatmulPreferenceSetAttribute", made, _PREF_MAX_WORKSPACE_BYTES, limit)
        return made

    def handle(self) -> ctypes.c_void_p:
        """Return the handle, made at the first call for the current device."""
        if self._handle is None:
            made = ctypes.c_void_p()
            self._call("cublasLtCreate", ctypes.byref(made))
            self._handle = made
        return self._handle

    def _get(self, function: str, what: ctypes.c_void_p, attribute: int, kind: Any) -> int:
        value = kind()
        written = ctypes.c_size_t()
        size = ctypes.c_size_t(ctypes.sizeof(value))
        self._call(function, what, attribute, ctypes.byref(value), size, ctypes.byref(written))
        return int(value.value)

    def _set(self, function: str, what: ctypes.c_void_p, attribute: int, value: Any) -> None:
        self._call(function, what, attribute, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value)))

    def _call(self, function: str, *arguments: Any) -> None:
        status = getattr(self.library, function)(*arguments)
        if status:
            raise CublasLtError(f"{function} failed with status {status}")


class Product:
    """A plan with its layouts; ``heuristics`` lists the ways the library would do it, ``run`` does it in one."""

    def __init__(self, library: CublasLt, plan: Plan, workspace_bytes: int) -> None:
        """Make descriptor and layouts, which live as long as the process: there are a few dozen."""
        self._library = library
        self._workspace_bytes = workspace_bytes
        self.operation = library.operation(plan)
        self.a, self.b, self.c = (library.layout(plan.dtype, *matrix) for matrix in (plan.a, plan.b, plan.c))
        self._one = ctypes.c_float(1.0)
        self._matmul = library.library.cublasLtMatmul

    def heuristics(self, most: int) -> Sequence[Heuristic]:
        """Return at most ``most`` usable results in the library's order, best first as it believes."""
        results = (Heuristic * most)()
        count = ctypes.c_int()
        preference = self._library.preference(self._workspace_bytes)
        self._library._call(
            "cublasLtMatmulAlgoGetHeuristic", self._library.handle(), self.operation, self.a, self.b, self.c, self.c,
            preference, most, results, ctypes.byref(count),
        )  # fmt: skip
        return [result for result in results[: count.value] if result.state == 0]

    def run(self, heuristic: Heuristic, a: int, b: int, c: int, d: int, workspace: int, stream: int) -> None:
        """Enqueue D = op(A) op(B) + C on ``stream``; matrices and workspace by address."""
        one = ctypes.byref(self._one)
        status = self._matmul(
            self._library.handle(), self.operation, one, ctypes.c_void_p(a), self.a, ctypes.c_void_p(b), self.b, one,
            ctypes.c_void_p(c), self.c, ctypes.c_void_p(d), self.c, ctypes.byref(heuristic.algorithm),
            ctypes.c_void_p(workspace), ctypes.c_size_t(self._workspace_bytes), ctypes.c_void_p(stream),
        )  # fmt: skip
        if status:
            raise CublasLtError(f"cublasLtMatmul failed with status {status}")
