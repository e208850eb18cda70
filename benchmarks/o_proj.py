"""The op's own cells: tokens × output projections, by dtype, on a GPU and on a CPU."""

import solwatch.suite
from benchmarks.layers import CPU_LAYERS, CPU_TOKENS, LAYERS, TOKENS
from benchmarks.projection import fused_cell

FLOAT16_LAYERS = ["llama-3-8b", "qwen2.5-7b"]


class OProj(solwatch.suite.GpuSuite):
    """bfloat16 on a GPU."""

    param_names = ["tokens", "layer"]
    params = [TOKENS, list(LAYERS)]
    sets = {
        "standard": [
            (tokens, layer)
            for layer in LAYERS
            for tokens in (1, 64, 256, 4096)
            if not (tokens == 256 and layer in ("jamba-3b", "gpt-oss"))
        ],
        "quick": [
            (1, "llama-3-8b"),
            (16, "llama-3-8b"),
            (256, "llama-3-8b"),
            (4096, "llama-3-8b"),
            (16, "llama-3-70b"),
            (4096, "llama-3-70b"),
            (64, "deepseek-v3"),
            (1024, "gpt-oss"),
        ],
    }

    def setup_cache(self):
        return self.measure()

    setup_cache.timeout = 1800

    def cell(self, tokens, layer):
        return fused_cell(tokens, LAYERS[layer], "bfloat16")


class OProjFloat16(solwatch.suite.GpuSuite):
    """float16 on a GPU, for two layers."""

    param_names = ["tokens", "layer"]
    params = [TOKENS, FLOAT16_LAYERS]
    sets = {"standard": [(64, "llama-3-8b"), (4096, "llama-3-8b")], "quick": []}

    def setup_cache(self):
        return self.measure()

    setup_cache.timeout = 1800

    def cell(self, tokens, layer):
        return fused_cell(tokens, LAYERS[layer], "float16")


class OProjCpu(solwatch.suite.Suite):
    """float32 on a CPU, at sizes that finish: bfloat16 is emulated on most CPUs."""

    param_names = ["tokens", "layer"]
    params = [CPU_TOKENS, list(CPU_LAYERS)]
    sets = {
        "standard": [(tokens, layer) for tokens in CPU_TOKENS for layer in CPU_LAYERS],
        "quick": [(tokens, layer) for tokens in (1, 16) for layer in CPU_LAYERS],
    }

    def setup_cache(self):
        return self.measure()

    setup_cache.timeout = 1800

    def cell(self, tokens, layer):
        return fused_cell(tokens, CPU_LAYERS[layer], "float32")
