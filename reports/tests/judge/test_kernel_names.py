"""Which kernel a plan speaks of, and how a kernel is called in front of people."""

import pytest

from solwatch.judge.kernel_names import kernel_of_plan, short_title

NAMES = [
    f"_ZN12fused_o_proj15mma_tile_kernelI{kind}JLi{tokens}ELi{features}ELi1EEEEvNS_13TileArgumentsIT_EE"
    for kind in ("13__nv_bfloat16", "6__half")
    for tokens, features in ((64, 32), (64, 128), (128, 128))
] + ["_ZN12fused_o_proj16simt_rows_kernelENS0_13SimtArgumentsE"]


def test_kernel_tile_and_dtype_name_one() -> None:
    plan = {"kernel": "mma_tile", "tile": "64×128×64"}
    assert kernel_of_plan(NAMES, plan, "bfloat16") == NAMES[1]
    assert kernel_of_plan(NAMES, plan, "float16") == NAMES[4]
    assert kernel_of_plan(NAMES, {"kernel": "simt_rows", "tile": "8×4×32"}, "float32") == NAMES[-1]


@pytest.mark.parametrize(
    ("plan", "dtype"),
    [
        ({}, "bfloat16"),
        ({"kernel": ""}, "bfloat16"),
        ({"kernel": "wgmma_tile", "tile": "64×128×64"}, "bfloat16"),
        ({"kernel": "mma_tile"}, "bfloat16"),
        ({"kernel": "mma_tile", "tile": "64×128×64"}, None),
        ({"kernel": "mma_tile", "tile": "32×32×64"}, "bfloat16"),
    ],
)
def test_no_kernel_is_guessed(plan: dict[str, str], dtype: str | None) -> None:
    assert kernel_of_plan(NAMES, plan, dtype) is None


@pytest.mark.parametrize(
    ("demangled", "title"),
    [
        ("void fused_o_proj::mma_tile_kernel<__nv_bfloat16, (int)8, (bool)1>(fused_o_proj::Arguments<T1>)",
         "fused_o_proj::mma_tile_kernel<__nv_bfloat16, 8, 1>"),
        ("(anonymous namespace)::tile(float*)", "tile"),
        ("void run<void (*)(int)>(int)", "run<void (*)(int)>"),
        ("sums", "sums"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_title_is_a_name_without_its_arguments(demangled: str, title: str) -> None:
    assert short_title(demangled) == title
