"""Compiles the CUTLASS kernels: generated files, in parallel, kept by content, linked into one library."""

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from benchmarks.peers.comparison.cutlass import ARCHITECTURE, FOLDER, KERNELS, LIBRARY, find_headers
from solwatch.model.errors import MachineError

ROOT = FOLDER.parents[1]
TEMPLATE = Path(__file__).parent / "gemm.cuh"
UNIT = 4
"""Kernels of one file: the headers take the compiler longer than a kernel; 65 s for a file of one, 139 s of four."""

JOB_BYTES = 7 << 30
"""Memory that one compilation takes, at its peak 6.5 GB."""

FLAGS = [
    "-std=c++17",
    "-O3",
    "-DNDEBUG",
    f"-gencode=arch=compute_{ARCHITECTURE.removeprefix('sm_')},code={ARCHITECTURE}",
    "--expt-relaxed-constexpr",
    "-Xcompiler=-fPIC,-O1",
]


def build(dtypes: Sequence[str], *, jobs: int | None, say: Callable[[str], None]) -> Path:
    """Build the library for ``dtypes`` and return its path.

    Raises ``MachineError`` without nvcc or CUTLASS's headers, and when a kernel doesn't compile.
    """
    nvcc, headers = _nvcc(), find_headers()
    if headers is None:
        raise MachineError("CUTLASS's headers are not installed: pip install nvidia-cutlass")
    objects = FOLDER / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    seed = _seed(nvcc, headers)
    wanted = {_object(objects, seed, source): source for dtype in dtypes for source in sources(dtype)}
    missing = {path: source for path, source in wanted.items() if not path.is_file()}
    jobs = jobs or usual_jobs()
    say(f"{len(wanted)} files, {len(missing)} to compile, {jobs} at a time; two or three minutes of one core each")
    started = time.monotonic()
    pool = ThreadPoolExecutor(jobs)
    try:
        running = [pool.submit(_compile, nvcc, headers, path, source) for path, source in missing.items()]
        for number, done in enumerate(as_completed(running), 1):
            done.result()
            say(f"{number} of {len(missing)} after {time.monotonic() - started:.0f} s")
    finally:
        pool.shutdown(cancel_futures=True)
    library = FOLDER / LIBRARY
    _link(nvcc, list(wanted), library)
    return library


def sources(dtype: str) -> list[str]:
    """Return the texts of the files to compile for ``dtype``, ``UNIT`` kernels in each."""
    lines = [kernel.instantiation(dtype) for kernel in KERNELS]
    return ["\n".join(['#include "gemm.cuh"', "", *lines[at : at + UNIT], ""]) for at in range(0, len(lines), UNIT)]


def usual_jobs() -> int:
    """Return how many compilations this machine takes at once, by its cores and its free memory."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(len(os.sched_getaffinity(0)), free // JOB_BYTES))


def _compile(nvcc: str, headers: Path, target: Path, text: str) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".compiling-") as scratch:
        source, compiled = Path(scratch) / f"{target.stem}.cu", Path(scratch) / target.name
        source.write_text(text)
        includes = [f"-I{folder}" for folder in (headers / "include", headers / "tools/util/include", TEMPLATE.parent)]
        first = text.partition("(")[2].partition(",")[0]
        _run([nvcc, *FLAGS, *includes, "-c", str(source), "-o", str(compiled)], first)
        compiled.replace(target)


def _link(nvcc: str, objects: Sequence[Path], library: Path) -> None:
    """Link with the static runtime, so that the library needs nothing beside the driver where it is carried to.

    Only the C functions are exported: torch has CUTLASS in it too, of another version.
    """
    made, exports = library.with_suffix(".linking"), library.with_suffix(".exports")
    exports.write_text("{ global: gemm_*; local: *; };\n")
    linker = ["-Xlinker=--strip-all", f"-Xlinker=--version-script={exports}"]
    _run([nvcc, "-shared", "-cudart=static", *linker, *map(str, objects), "-o", str(made)], library.name)
    made.replace(library)


def _run(command: Sequence[str], what: str) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        lines = (ended.stderr or ended.stdout).strip().splitlines()
        error = next((line for line in lines if "error" in line), lines[-1] if lines else "it said nothing")
        raise MachineError(f"nvcc fails on {what} with exit code {ended.returncode}: {error.strip()}")


def _object(folder: Path, seed: str, source: str) -> Path:
    return folder / f"{hashlib.sha256((seed + source).encode()).hexdigest()[:32]}.o"


def _seed(nvcc: str, headers: Path) -> str:
    """Return what an object depends on beside its own source: template, flags, compiler, CUTLASS's version."""
    version = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    parts = [TEMPLATE.read_text(), (headers / "include/cutlass/version.h").read_text(), *FLAGS, version]
    return "\0".join(parts)


def _nvcc() -> str:
    """Return the compiler that the kernels' own build would take."""
    sys.path.append(str(ROOT / "kernels"))
    try:
        from native_build.toolchain import find_nvcc
    finally:
        sys.path.remove(str(ROOT / "kernels"))
    found = find_nvcc(os.environ)
    if found is None:
        raise MachineError(
            "nvcc is not found in CUDA_HOME, on PATH or among pip's packages: pip install 'solwatch[toolkit]'"
        )
    return found
