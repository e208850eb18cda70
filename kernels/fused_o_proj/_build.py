"""What the build wrote down about itself."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

BUILD_INFO_PATH = Path(__file__).with_name("_build_info.json")


@functools.cache
def _read() -> dict[str, Any]:
    if not BUILD_INFO_PATH.is_file():
        raise RuntimeError(
            f"fused_o_proj has not been built: {BUILD_INFO_PATH} is missing. "
            "Install it with: pip install --no-build-isolation ."
        )
    facts: dict[str, Any] = json.loads(BUILD_INFO_PATH.read_text(encoding="utf-8"))
    return facts


def build_info() -> dict[str, Any]:
    """Tell how this library was built.

    Keys: ``kind`` ("cuda" or "cpu"), ``archs`` (list of CUDA architectures), ``nvcc`` and ``cxx``
    (compiler versions; ``nvcc`` is None without CUDA), ``torch_headers`` (version compiled
    against), ``torch_target`` (oldest version it runs under), ``delay_ppm`` (planted
    slowdown in millionths, 0 in any real build).

    Raises RuntimeError when the package was never built.
    """
    return dict(_read())
