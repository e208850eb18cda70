"""What the sweeps try, and how the libraries are told; checked for every cell without a GPU."""

import ctypes
import re
from pathlib import Path

import pytest

from benchmarks.peers.comparison import cutlass, cutlass_build, split_k
from benchmarks.peers.comparison.cublaslt_library import (
    CublasLt,
    Heuristic,
    Plan,
    Product,
    find_library,
    plan_projection,
)
from benchmarks.peers.comparison.cutlass import KERNELS, STREAM_K, CutlassPeer, choices
from benchmarks.peers.comparison.field import chosen_cases
from benchmarks.peers.comparison.peer import Case, Gpu
from solwatch.model.errors import MachineError

CASES = chosen_cases(None, None, "bfloat16")
H200 = Gpu(0, (9, 0), 132)
A100 = Gpu(0, (8, 0), 108)
CALL = re.compile(r"^PEER_GEMM\((.*)\)$", re.MULTILINE)


def multiplied(plan: Plan, a: list[float], b: list[float], c: list[float]) -> list[float]:
    """Do what cuBLASLt does with a plan: column-major matrices in flat lists."""

    def element(flat: list[float], leading: int, row: int, column: int) -> float:
        return flat[row + column * leading]

    m, n, k = plan.c[0], plan.c[1], plan.a[0] if plan.transpose_a else plan.a[1]
    out = [0.0] * len(c)
    for row in range(m):
        for column in range(n):
            total = element(c, plan.c[2], row, column)
            for step in range(k):
                left = (step, row) if plan.transpose_a else (row, step)
                right = (column, step) if plan.transpose_b else (step, column)
                total += element(a, plan.a[2], *left) * element(b, plan.b[2], *right)
            out[row + column * plan.c[2]] = total
    return out


def test_the_plan_for_cublaslt_is_the_row_major_product() -> None:
    tokens, n, k = 2, 3, 4
    attn = [float(place % 5 - 2) for place in range(tokens * k)]
    weight = [float(place % 7 - 3) for place in range(n * k)]
    residual = [float(place) for place in range(tokens * n)]
    wanted = [
        residual[token * n + row] + sum(attn[token * k + step] * weight[row * k + step] for step in range(k))
        for token in range(tokens)
        for row in range(n)
    ]
    assert multiplied(plan_projection(tokens, n, k, "bfloat16"), a=weight, b=attn, c=residual) == wanted


def test_cublaslt_notes_the_layouts_as_they_are_meant() -> None:
    found = find_library()
    if found is None:
        pytest.skip("libcublasLt is not on this machine")
    library = CublasLt(found)
    product = Product(library, plan_projection(16, 4096, 8192, "bfloat16"), 64 << 20)
    told = [library.told_layout(layout) for layout in (product.a, product.b, product.c)]
    assert told == [
        {"type": 14, "rows": 8192, "columns": 4096, "leading": 8192},
        {"type": 14, "rows": 8192, "columns": 16, "leading": 8192},
        {"type": 14, "rows": 4096, "columns": 16, "leading": 4096},
    ]


def test_a_result_of_the_heuristic_has_the_headers_size() -> None:
    assert ctypes.sizeof(Heuristic) == 96
    assert (Heuristic.workspace_bytes.offset, Heuristic.state.offset) == (64, 72)


@pytest.mark.parametrize("gpu", [H200, A100], ids=["sm_90", "sm_80"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_split_of_the_triton_kernel_covers_k_once(case: Case, gpu: Gpu) -> None:
    found = split_k.configurations(case, gpu)
    assert any(one.parts == 1 for one in found)
    assert len({str(one) for one in found}) == len(found)
    for one in found:
        part = one.k_part(case.shape.k)
        assert part % one.blocks.k == 0
        assert (one.parts - 1) * part < case.shape.k <= one.parts * part
        assert one.blocks.shared_bytes <= split_k.SHARED_BYTES[gpu.capability[0]]
        assert not one.blocks.swapped or one.blocks.tokens >= case.tokens
        if one.parts > 1:
            tiles = -(-case.tokens // one.blocks.tokens) * -(-case.shape.n // one.blocks.rows)
            assert tiles * one.parts <= split_k.WAVES[1] * gpu.sm_count


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cutlass_is_asked_for_both_orders_where_either_may_win(case: Case) -> None:
    found = choices(case, H200)
    assert len({str(one) for one in found}) == len(found)
    swapped = {one.kernel.swapped for one in found}
    assert swapped == ({True} if case.tokens <= 32 else {True, False} if case.tokens <= 512 else {False})
    assert all(one.kernel.stream_k for one in found if one.parts != 1)
    assert any(one.parts == STREAM_K for one in found)
    assert any(one.parts > 1 for one in found) or case.tokens > 256
    for one in found:
        assert one.parts <= 1 or case.shape.k // one.kernel.k >= 2 * one.parts


def test_each_cutlass_kernel_is_instantiated_once_by_the_templates_macro() -> None:
    made = [call for dtype in cutlass.ELEMENTS for text in cutlass_build.sources(dtype) for call in CALL.findall(text)]
    names = {arguments.split(",")[0] for arguments in made}
    assert names == {f"gemm_{kernel.name(dtype)}" for kernel in KERNELS for dtype in cutlass.ELEMENTS}
    assert len(names) == len(made) == 2 * len(KERNELS)
    macro = re.search(r"#define PEER_GEMM\(([^)]*)\)", cutlass_build.TEMPLATE.read_text())
    assert macro is not None
    assert all(arguments.count(",") == macro[1].count(",") for arguments in made)


def test_cutlass_says_what_to_run_where_its_library_is_missing(tmp_path: Path) -> None:
    peer = CutlassPeer(tmp_path)
    assert cutlass.BUILD_COMMAND in (peer.obstacle(H200) or "")
    assert "sm_80" in (peer.obstacle(A100) or "")
    (tmp_path / cutlass.LIBRARY).touch()
    assert peer.obstacle(H200) is None


FAKE_NVCC = """#!/bin/sh
[ "$1" = --version ] && echo "release 13.0, V13.0.88" && exit 0
echo "$*" >> "$NVCC_LOG"
case "$*" in *refused*) echo "x.cu(1): error: no such tile" >&2; exit 2;; esac
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo made > "$2"; shift; done
"""


@pytest.fixture
def fake_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that notes its calls; CUTLASS's headers, and a folder for what is built."""
    nvcc, log = tmp_path / "bin" / "nvcc", tmp_path / "log"
    nvcc.parent.mkdir()
    nvcc.write_text(FAKE_NVCC)
    nvcc.chmod(0o755)
    log.touch()
    version = tmp_path / "headers" / "include" / "cutlass" / "version.h"
    version.parent.mkdir(parents=True)
    version.write_text("#define CUTLASS_MAJOR 4\n")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("NVCC_LOG", str(log))
    monkeypatch.setattr(cutlass_build, "FOLDER", tmp_path / "peers")
    monkeypatch.setattr(cutlass_build, "find_headers", lambda: tmp_path / "headers")
    return log


def test_kernels_are_compiled_once_and_again_when_their_content_changes(
    fake_nvcc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def calls() -> int:
        count = len(fake_nvcc.read_text().splitlines())
        fake_nvcc.write_text("")
        return count

    def build(*dtypes: str) -> int:
        library = cutlass_build.build(dtypes, jobs=2, say=lambda text: None)
        assert library.is_file()
        return calls()

    files = len(cutlass_build.sources("bfloat16"))
    assert build("bfloat16") == files + 1
    assert build("bfloat16") == 1  # linked again
    assert build("bfloat16", "float16") == files + 1
    monkeypatch.setattr(cutlass_build, "FLAGS", [*cutlass_build.FLAGS, "-O1"])
    assert build("bfloat16") == files + 1


def test_a_kernel_that_does_not_compile_is_named_with_the_compilers_error(
    fake_nvcc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutlass_build, "FLAGS", ["-refused"])
    with pytest.raises(MachineError, match=r"nvcc fails on gemm_bf16_\w+ with exit code 2: x.cu\(1\): error: no such"):
        cutlass_build.build(["bfloat16"], jobs=1, say=lambda text: None)
