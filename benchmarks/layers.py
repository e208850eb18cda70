"""The output projections of real models, and the numbers of tokens they meet."""

from typing import NamedTuple


class Layer(NamedTuple):
    """One o_proj: ``k`` input features (heads × head size) and ``n`` output features (hidden size)."""

    k: int
    n: int


LAYERS = {
    "llama-3-8b": Layer(4096, 4096),
    "llama-3-70b": Layer(8192, 8192),
    "qwen2.5-7b": Layer(3584, 3584),
    "jamba-3b": Layer(2560, 2560),
    "deepseek-v3": Layer(16384, 7168),
    "gpt-oss": Layer(4096, 2880),
}
"""From the models' published configurations."""

CPU_LAYERS = {
    "tiny-512": Layer(512, 512),
    "small-1024": Layer(1024, 1024),
    "qwen2.5-0.5b": Layer(896, 896),
    "llama-3.2-1b": Layer(2048, 2048),
}
"""Layers a CPU finishes: small models' own, and two squares."""

TOKENS = [1, 16, 64, 256, 1024, 4096]
"""From one sequence being decoded to a full prefill."""

FULL_TOKENS = [1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
"""Where a kernel's dispatch may change its mind; what the op is compared with its peers on."""

CPU_TOKENS = [1, 16, 64]
