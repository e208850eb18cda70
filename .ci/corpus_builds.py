"""Builds of the op for the noise corpus: the plain one, neutral rebuilds of the same source, planted slowdowns.

``python .ci/corpus_builds.py OUTPUT`` makes a folder for each, with the package in it. A neutral rebuild differs in
something that does not change what a kernel does: what it shows against the plain build is what recompiling alone
shifts. Planted slowdowns are measured against the one of a millionth. Needs nvcc, no GPU. Exits 1 when a build fails
or an edit finds nothing to change.
"""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wheels import WheelError, copy_sources

CSRC = Path("kernels/fused_o_proj/csrc")
DEAD_KERNEL = """
__global__ void unused_{name}(float* data, int count) {{
  for (int i = threadIdx.x; i < count; i += blockDim.x) data[i] = data[i] * 2.0f + {number}.0f;
}}
"""


@dataclass(frozen=True)
class Variant:
    """A build: an edit of the source's copy, and variables for its build."""

    edit: Callable[[Path], None] = lambda source: None
    environment: Mapping[str, str] = field(default_factory=dict)


def renamed(old: str, new: str) -> Callable[[Path], None]:
    """Rename an identifier wherever it stands."""

    def edit(source: Path) -> None:
        found = 0
        for path in [*(source / CSRC).rglob("*.*")]:
            text, count = re.subn(rf"\b{old}\b", new, path.read_text())
            found += count
            path.write_text(text)
        if not found:
            raise WheelError(f"there is no {old} to rename any more: change .ci/corpus_builds.py")

    return edit


def inserted(name: str, before: str, text: str) -> Callable[[Path], None]:
    """Put ``text`` in front of the first line of file ``name`` that begins with ``before``."""

    def edit(source: Path) -> None:
        path = source / CSRC / name
        whole = path.read_text()
        if f"\n{before}" not in whole:
            raise WheelError(f"{name} has no line that begins with {before!r} any more: change .ci/corpus_builds.py")
        path.write_text(whole.replace(f"\n{before}", f"\n{text}\n{before}", 1))

    return edit


def sources_reversed(source: Path) -> None:
    """Compile and link the files in the opposite order."""
    path = source / "kernels/sources.txt"
    path.write_text("\n".join(path.read_text().split()[::-1]) + "\n")


def function_moved(source: Path) -> None:
    """Move the function that describes an operand behind the class that follows it."""
    path = source / CSRC / "cuda/mma_tile.cuh"
    moved = re.compile(
        r"(template <typename T>\nOperand<T> make_operand.*?\n}\n\n)(.*?)(?=template <typename T, int)", re.S
    )
    text, count = moved.subn(r"\2\1", path.read_text(), count=1)
    if not count:
        raise WheelError("make_operand is not where it was: change .ci/corpus_builds.py")
    path.write_text(text)


VARIANTS = {
    "plain": Variant(),
    "neutral-renamed-kernel": Variant(renamed("mma_tile_kernel", "tile_mma_kernel")),
    "neutral-renamed-struct": Variant(renamed("TileKernel", "KernelOfOneTile")),
    "neutral-renamed-table": Variant(renamed("kTileConfigs", "kConfigurationsOfTiles")),
    "neutral-renamed-arguments": Variant(renamed("TileArguments", "ArgumentsOfTheTile")),
    "neutral-moved-function": Variant(function_moved),
    "neutral-reversed-sources": Variant(sources_reversed),
    "neutral-comment": Variant(inserted("cuda/mma_tile.cuh", "namespace", "// A line that moves all others.\n" * 7)),
    "neutral-dead-kernel-first": Variant(
        inserted("cuda/mma_tile_bfloat16.cu", "namespace", DEAD_KERNEL.format(name="first", number=1))
    ),
    "neutral-dead-kernels": Variant(
        inserted(
            "cuda/mma_tile_bfloat16.cu",
            "namespace",
            "".join(DEAD_KERNEL.format(name=f"number_{number}", number=number) for number in range(9)),
        )
    ),
    "neutral-one-job": Variant(environment={"MAX_JOBS": "1"}),
    "neutral-line-info": Variant(environment={"NVCC_APPEND_FLAGS": "-lineinfo"}),
    "neutral-host-debug": Variant(environment={"NVCC_APPEND_FLAGS": "-g"}),
} | {
    # The code that holds a kernel back changes its registers: a planted slowdown is measured against a build that has
    # that code and holds back by a millionth.
    f"planted-{ppm}-ppm": Variant(environment={"FUSED_O_PROJ_DELAY_PPM": str(ppm)})
    for ppm in (1, 5000, 10000, 12000, 20000, 24000, 50000)
}


def build(name: str, variant: Variant, output: Path, work: Path) -> None:
    """Build one variant into ``output/name``."""
    source = work / name / "source"
    copy_sources(source)
    variant.edit(source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(work / name / "wheels")]
    done = subprocess.run(
        [*pip, *options, str(source)],
        env=os.environ | {"FUSED_O_PROJ_CUDA": "1"} | dict(variant.environment),
        check=False,
    )
    if done.returncode != 0:
        raise WheelError(f"{name} does not build (pip ended with {done.returncode}); see above")
    (wheel,) = (work / name / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(output / name)


def main() -> int:
    """Build all; returns the exit code."""
    if len(sys.argv) != 2:
        print("usage: python .ci/corpus_builds.py OUTPUT", file=sys.stderr)
        return 2
    output = Path(sys.argv[1]).resolve()
    try:
        for name, variant in VARIANTS.items():
            build(name, variant, output, output.parent / f"{output.name}-work")
            print(name, flush=True)
    except WheelError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
