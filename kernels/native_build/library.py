"""Compiles the listed sources and links them into one library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from native_build.cache import BuildCache, hash_command, hash_sources
from native_build.settings import BuildError, Settings, read_settings
from native_build.toolchain import TORCH_TARGET, Toolchain, find_toolchain

KERNELS = Path(__file__).resolve().parent.parent
SOURCE_LIST = KERNELS / "sources.txt"
CSRC = KERNELS / "fused_o_proj" / "csrc"
LIBRARY = "libfused_o_proj.so"
DECODE_ARCH = "90a"
"""The architecture without which the decode kernel is left out of the dispatch."""

TARGET_VERSION = f"0x{TORCH_TARGET[0]:02x}{TORCH_TARGET[1]:02x}000000000000"


@dataclass(frozen=True)
class Plan:
    """One library: its toolchain, settings and the hash of all that is compiled."""

    settings: Settings
    tools: Toolchain
    source_sha256: str

    @property
    def kind(self) -> str:
        """``cuda`` or ``cpu``."""
        return "cpu" if self.tools.nvcc is None else "cuda"


def build(folder: Path) -> None:
    """Build the library and its facts into ``folder``; raises BuildError with the compiler's text."""
    plan = _plan()
    _announce(plan)
    folder.mkdir(parents=True, exist_ok=True)
    cache = BuildCache(plan.settings.cache_dir)
    with tempfile.TemporaryDirectory(prefix="fused_o_proj-") as scratch:
        _make_library(plan, cache, Path(scratch), folder / LIBRARY)
    _write_facts(plan, folder / "_build_info.json")


def _plan() -> Plan:
    settings = read_settings(os.environ)
    tools = find_toolchain(settings, os.environ)
    compiled = [path for path in CSRC.rglob("*") if path.is_file()] + [SOURCE_LIST]
    return Plan(settings, tools, hash_sources(compiled, KERNELS))


def _announce(plan: Plan) -> None:
    if plan.kind == "cpu":
        reason = "FUSED_O_PROJ_CUDA=0" if plan.settings.cuda == "0" else "no nvcc was found"
        _say(f"building for the CPU only: {reason}")
    else:
        archs = ", ".join(plan.settings.archs)
        _say(f"building for CUDA ({archs}) with nvcc {plan.tools.nvcc_version}")


def _say(text: str) -> None:
    print(f"fused_o_proj: {text}", file=sys.stderr, flush=True)


def read_sources(with_cuda: bool) -> list[Path]:
    """Return the listed sources; those under csrc/cuda/ only for CUDA."""
    lines = SOURCE_LIST.read_text(encoding="utf-8").split()
    return [KERNELS / line for line in lines if with_cuda or "/cuda/" not in line]


def _make_library(plan: Plan, cache: BuildCache, scratch: Path, target: Path) -> None:
    sources = read_sources(plan.kind == "cuda")
    objects = [scratch / f"{source.parent.name}-{source.name}.o" for source in sources]
    link = _link_command(plan, objects, target)
    compiles = [
        word for source, made in zip(sources, objects, strict=True) for word in _compile_command(plan, source, made)
    ]
    key = _key(plan, [(scratch, "scratch"), (target.parent, "out")], [*link, *compiles])
    if cache.fetch(key, target):
        _say("nothing to compile: the library was found in the build cache")
        return
    with ThreadPoolExecutor(plan.settings.jobs) as pool:
        # The slowest first, so that the cores finish together.
        pairs = sorted(zip(sources, objects, strict=True), key=lambda pair: pair[0].suffix != ".cu")
        for _ in pool.map(lambda pair: _make_object(plan, cache, scratch, *pair), pairs):
            pass
    _run(link)
    cache.keep(key, target)


def _make_object(plan: Plan, cache: BuildCache, scratch: Path, source: Path, target: Path) -> None:
    command = _compile_command(plan, source, target)
    key = _key(plan, [(scratch, "scratch")], command)
    if not cache.fetch(key, target):
        _run(command)
        cache.keep(key, target)


def _compile_command(plan: Plan, source: Path, target: Path) -> list[str]:
    defines = [f"-DFUSED_O_PROJ_DELAY_PPM={plan.settings.delay_ppm}"]
    torch_flags = [
        f"-DTORCH_TARGET_VERSION={TARGET_VERSION}",
        f"-isystem{plan.tools.torch_root / 'include'}",
    ]
    paths = ["-c", str(source), "-o", str(target)]
    if source.suffix == ".cu":  # kernels know nothing of torch
        assert plan.tools.nvcc is not None
        host = "-Xcompiler=-fPIC,-fvisibility=hidden,-Wall"
        nvcc = [plan.tools.nvcc, "-std=c++17", "-O3", host, *_gencode(plan.settings.archs)]
        return [*nvcc, *defines, *paths]
    cxx = [*plan.tools.cxx, "-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"]
    cxx.append(f"-ffile-prefix-map={KERNELS}=kernels")
    if plan.tools.cuda_root is not None:
        defines.append("-DFUSED_O_PROJ_WITH_CUDA")
        if any(arch.startswith(DECODE_ARCH) for arch in plan.settings.archs):
            defines.append("-DFUSED_O_PROJ_WITH_SM_90A")
        torch_flags.append(f"-isystem{plan.tools.cuda_root / 'include'}")
    return [*cxx, *defines, *torch_flags, *paths]


def _gencode(archs: tuple[str, ...]) -> list[str]:
    flags = []
    for arch in archs:
        number = arch.removesuffix("+PTX")
        flags.append(f"-gencode=arch=compute_{number},code=sm_{number}")
        if arch != number:
            flags.append(f"-gencode=arch=compute_{number},code=compute_{number}")
    return flags


def _link_command(plan: Plan, objects: list[Path], target: Path) -> list[str]:
    """Link against torch by name only: no run path, the host process has it loaded already.

    libtorch must stay a needed library although nothing in the CPU build of torch that it is linked
    against is missing: through it a CUDA build of torch offers its stream.
    """
    command = [*plan.tools.cxx, "-shared", "-o", str(target), *map(str, objects)]
    command += [f"-L{plan.tools.torch_root / 'lib'}", "-Wl,--no-as-needed", "-ltorch"]
    command += ["-ltorch_cpu", "-lc10", "-Wl,--as-needed", f"-Wl,-soname,{LIBRARY}"]
    if plan.tools.cuda_root is not None:
        for name in ("lib64", "lib"):
            command.append(f"-L{plan.tools.cuda_root / name}")
        command += ["-lcudart_static", "-lrt", "-lpthread", "-ldl"]
    return [*command, str(plan.tools.cxx_runtime)]  # before what the compiler adds by itself, so that it wins


def _key(plan: Plan, places: list[tuple[Path, str]], command: list[str]) -> str:
    """Hash a command with the places taken out, so that a checkout elsewhere finds the same file."""
    places = [*places, (KERNELS, "kernels"), (plan.tools.torch_root, "torch")]
    if plan.tools.nvcc is not None and plan.tools.cuda_root is not None:
        places += [(Path(plan.tools.nvcc), "nvcc"), (plan.tools.cuda_root, "cuda")]
    text = "\n".join(command)
    for path, name in places:
        text = text.replace(str(path), f"<{name}>")
    versions = [plan.tools.cxx_version, plan.tools.nvcc_version or "", plan.tools.torch_version]
    return hash_command([text, plan.source_sha256, *versions])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}")
    if done.stdout.strip():
        _say(done.stdout.strip())


def _write_facts(plan: Plan, path: Path) -> None:
    """Write what tells one kind of build from another; nothing of the sources: a comment must not change a wheel."""
    facts: dict[str, Any] = {
        "kind": plan.kind,
        "archs": list(plan.settings.archs) if plan.kind == "cuda" else [],
        "nvcc": plan.tools.nvcc_version,
        "cxx": plan.tools.cxx_version,
        "torch_headers": plan.tools.torch_version,
        "torch_target": ".".join(map(str, TORCH_TARGET)),
        "delay_ppm": plan.settings.delay_ppm,
    }
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
