"""Builds the wheel of fused_o_proj: pure Python plus one library that any Python can load."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from setuptools import Distribution, setup  # type: ignore[import-untyped]
from setuptools.command.bdist_wheel import bdist_wheel  # type: ignore[import-untyped]
from setuptools.command.build_py import build_py  # type: ignore[import-untyped]

KERNELS = Path(__file__).resolve().parent / "kernels"
sys.path.insert(0, str(KERNELS))

from native_build.library import build  # noqa: E402  (found through the line above)
from native_build.settings import BuildError  # noqa: E402


class BuildWithLibrary(build_py):  # type: ignore[misc]  # setuptools has no types
    """Copies the Python files, then builds the library beside them (in place when editable)."""

    def run(self) -> None:
        super().run()
        root = KERNELS if self.editable_mode else Path(self.build_lib)
        try:
            build(root / "fused_o_proj")
        except BuildError as error:
            raise SystemExit(f"fused_o_proj: {error}") from None


class LinuxWheel(bdist_wheel):  # type: ignore[misc]
    """Tags the wheel by platform alone: the library has no Python C API."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", f"linux_{platform.machine()}"


class NativeDistribution(Distribution):  # type: ignore[misc]
    """Installs to the platform's folder, since the library is machine code."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    distclass=NativeDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": LinuxWheel},
)
