"""The fused output projection: ``attn_output @ o_proj_weight.T + residual`` in one kernel."""

from fused_o_proj._build import build_info
from fused_o_proj._native import library_path
from fused_o_proj._version import __version__
from fused_o_proj.gpu import Gpu
from fused_o_proj.op import explain, o_proj_residual

__all__ = ["Gpu", "__version__", "build_info", "explain", "library_path", "o_proj_residual"]
