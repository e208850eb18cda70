"""Loads the native library, once, which registers the operators with torch."""

from __future__ import annotations

from pathlib import Path

import torch


def library_path() -> Path:
    """Tell where ``libfused_o_proj.so`` lies, for hosts that load it themselves.

    Raises RuntimeError when the package was never built.
    """
    path = Path(__file__).with_name("libfused_o_proj.so")
    if not path.is_file():
        raise RuntimeError(
            f"fused_o_proj has not been built: {path} is missing. Install it with: pip install --no-build-isolation ."
        )
    return path


torch.ops.load_library(str(library_path()))  # type: ignore[no-untyped-call]  # torch has no types for it
OPS = torch.ops.fused_o_proj
