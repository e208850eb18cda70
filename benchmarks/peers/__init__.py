"""What the op is compared with, measured like it and judged never.

The classes here are what a model does without the op, as cells of the suite. Libraries and compilers that could do
the same in one kernel are the business of ``comparison``: ``python -m benchmarks.peers`` times them all in turn and
prints one table. That folder is no package, since asv imports every module of one in each of its processes.
"""

import solwatch.suite
from benchmarks.layers import CPU_LAYERS, CPU_TOKENS, LAYERS, TOKENS
from benchmarks.projection import projection_cell


def addmm(attn_output, residual, o_proj_weight, out):
    """``torch.addmm`` into the given tensor; cuBLAS adds the residual."""
    import torch

    torch.addmm(residual, attn_output, o_proj_weight.t(), out=out)


def unfused(attn_output, residual, o_proj_weight, out):
    """The pair as a model writes it: the product into a temporary, then the sum."""
    import torch

    torch.add(torch.mm(attn_output, o_proj_weight.t()), residual, out=out)


class Addmm(solwatch.suite.GpuSuite):
    """``torch.addmm`` in bfloat16 on a GPU."""

    gated = False
    param_names = ["tokens", "layer"]
    params = [TOKENS, list(LAYERS)]

    def setup_cache(self):
        return self.measure()

    setup_cache.timeout = 1800

    def cell(self, tokens, layer):
        return projection_cell(tokens, LAYERS[layer], "bfloat16", addmm)


class Unfused(solwatch.suite.GpuSuite):
    """Product, then sum, in bfloat16 on a GPU."""

    gated = False
    param_names = ["tokens", "layer"]
    params = [TOKENS, list(LAYERS)]

    def setup_cache(self):
        return self.measure()

    setup_cache.timeout = 1800

    def cell(self, tokens, layer):
        return projection_cell(tokens, LAYERS[layer], "bfloat16", unfused)


class AddmmCpu(solwatch.suite.Suite):
    """``torch.addmm`` in float32 on a CPU."""

    gated = False
    param_names = ["tokens", "layer"]
    params = [CPU_TOKENS, list(CPU_LAYERS)]

    def setup_cache(self):
        return self.measure()

    setup_cache.timeout = 1800

    def cell(self, tokens, layer):
        return projection_cell(tokens, CPU_LAYERS[layer], "float32", addmm)


class UnfusedCpu(solwatch.suite.Suite):
    """Product, then sum, in float32 on a CPU."""

    gated = False
    param_names = ["tokens", "layer"]
    params = [CPU_TOKENS, list(CPU_LAYERS)]

    def setup_cache(self):
        return self.measure()

    setup_cache.timeout = 1800

    def cell(self, tokens, layer):
        return projection_cell(tokens, CPU_LAYERS[layer], "float32", unfused)
