"""Compiles the CUDA build of the kernels and loads it; neither needs a GPU.

nvcc comes from CUDA_HOME, PATH or /usr/local/cuda; where none of them has it, from the packages of solwatch's
``toolkit`` extra, which are then installed into the environment that runs this. TORCH_CUDA_ARCH_LIST names the
architectures. Exits 1 when the wheel does not build, its library has no CUDA code, or it does not load.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from wheels import ROOT, WheelError, build_wheels

WORK = ROOT / "build" / "cuda"
# Fat binaries lie in ELF sections of this name; it is looked for as bytes, which needs no CUDA tool.
FATBIN = b".nv_fatbin"
LOADING = "import fused_o_proj; print('loaded', fused_o_proj.__version__, fused_o_proj.library_path())"


def find_nvcc() -> str | None:
    """Return the CUDA compiler of the machine, ``None`` when it has none."""
    homes = [Path(home) / "bin" for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if home]
    return shutil.which("nvcc", path=os.pathsep.join([*map(str, homes), os.environ.get("PATH", "")]))


def install_toolkit() -> None:
    """Install the pinned compiler packages; WheelError when pip can't."""
    print("no nvcc on this machine: installing the packages of the toolkit extra", flush=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    options = ["--constraint", str(ROOT / "constraints.txt"), "--editable", f"{ROOT / 'reports'}[toolkit]"]
    if subprocess.run([*pip, *options], check=False).returncode != 0:
        raise WheelError("the packages of the toolkit extra can't be installed; see above")


def main() -> int:
    """Build, look, load; returns the exit code."""
    try:
        nvcc = find_nvcc()
        if nvcc is None:
            install_toolkit()
        else:
            print(f"nvcc: {nvcc}", flush=True)
        wheel = build_wheels(WORK, WORK / "wheels", environment={"FUSED_O_PROJ_CUDA": "1"})["fused_o_proj"]
    except WheelError as error:
        print(f"cuda: {error}", file=sys.stderr)
        return 1
    unpacked = WORK / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    libraries = sorted(unpacked.rglob("*.so"))
    if not any(FATBIN in library.read_bytes() for library in libraries):
        print(f"cuda: no library in {wheel.name} holds CUDA code: {', '.join(map(str, libraries))}", file=sys.stderr)
        return 1
    loaded = subprocess.run(
        [sys.executable, "-c", LOADING], cwd=WORK, env=os.environ | {"PYTHONPATH": str(unpacked)}, check=False
    )  # fmt: skip
    if loaded.returncode != 0:
        print(f"cuda: {wheel.name} does not load", file=sys.stderr)
        return 1
    print(f"cuda: {wheel.name} built and loaded, {sum(map(size, libraries)) / 1e6:.1f} MB of library")
    return 0


def size(path: Path) -> int:
    """Return a file's length in bytes."""
    return path.stat().st_size


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
