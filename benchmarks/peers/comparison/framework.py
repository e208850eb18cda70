"""The op itself, and what PyTorch has to offer: addmm out of place and in place, and its compiler."""

import importlib.util
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.peers.comparison.peer import Candidate, Case, Gpu

COMPILED = [(tokens, layer) for tokens in (1, 16, 64, 256, 1024, 4096) for layer in ("llama-3-8b", "llama-3-70b")]
"""The cells that torch.compile is asked for: it tunes each for most of a minute."""

COMPILE_MODE = "max-autotune-no-cudagraphs"


class Op:
    """``fused_o_proj.o_proj_residual``, what all others are compared with."""

    name = "op"
    summary = "fused_o_proj.o_proj_residual(…, out=out)"
    limit_s = 60.0

    def obstacle(self, gpu: Gpu) -> str | None:
        """Return what is missing."""
        if importlib.util.find_spec("fused_o_proj") is None:
            return "fused_o_proj is not installed: pip install --no-build-isolation ."
        return None

    def candidates(self, case: Case) -> Sequence[Candidate]:
        """Return its one call."""
        return [Candidate("o_proj_residual", _fused)]


class Addmm:
    """``torch.addmm`` out of place: a copy of the residual, then cuBLAS adds the product to it."""

    name = "addmm"
    summary = "torch.addmm(residual, attn, weight.t(), out=out)"
    limit_s = 60.0

    def obstacle(self, gpu: Gpu) -> str | None:
        """Return ``None``: it is always there."""
        return None

    def candidates(self, case: Case) -> Sequence[Candidate]:
        """Return its one call."""
        return [Candidate("addmm", _addmm)]


class AddmmInPlace:
    """``residual.addmm_``: cuBLAS alone, for a caller who can do without the residual afterwards."""

    name = "addmm_"
    summary = "residual.addmm_(attn, weight.t()); the residual is put back untimed"
    limit_s = 60.0

    def obstacle(self, gpu: Gpu) -> str | None:
        """Return ``None``: it is always there."""
        return None

    def candidates(self, case: Case) -> Sequence[Candidate]:
        """Return its one call."""
        return [Candidate("addmm_", _addmm_in_place, in_place=True)]


class Compiled:
    """The model's own line, compiled by ``torch.compile`` with everything it can tune."""

    name = "compile"
    summary = f'torch.compile(attn @ weight.t() + residual, mode="{COMPILE_MODE}"), on {len(COMPILED)} cells'
    limit_s = 600.0

    def obstacle(self, gpu: Gpu) -> str | None:
        """Return what its code generator lacks."""
        if importlib.util.find_spec("triton") is None:
            return "triton is not installed: pip install triton"
        return None

    def candidates(self, case: Case) -> Sequence[Candidate]:
        """Return the compiled function for one of ``COMPILED``; compiling happens at its first call."""
        if (case.tokens, case.layer) not in COMPILED:
            return []
        import torch

        torch.compiler.reset()  # each cell has a graph of its own shape; none is taken for a recompilation
        compiled = torch.compile(_unfused, mode=COMPILE_MODE, dynamic=False)
        return [Candidate(COMPILE_MODE, partial(_call_compiled, compiled))]


def _fused(attn_output: Any, residual: Any, o_proj_weight: Any, out: Any, inout: Any) -> Any:
    from fused_o_proj import o_proj_residual

    return o_proj_residual(attn_output, residual, o_proj_weight, out=out)


def _addmm(attn_output: Any, residual: Any, o_proj_weight: Any, out: Any, inout: Any) -> Any:
    import torch

    return torch.addmm(residual, attn_output, o_proj_weight.t(), out=out)


def _addmm_in_place(attn_output: Any, residual: Any, o_proj_weight: Any, out: Any, inout: Any) -> Any:
    return inout.addmm_(attn_output, o_proj_weight.t())


def _unfused(attn_output: Any, residual: Any, o_proj_weight: Any) -> Any:
    return attn_output @ o_proj_weight.t() + residual


def _call_compiled(compiled: Any, attn_output: Any, residual: Any, o_proj_weight: Any, out: Any, inout: Any) -> Any:
    return compiled(attn_output, residual, o_proj_weight)
