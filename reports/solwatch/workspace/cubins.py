"""The kernels in a build's libraries, read with NVIDIA's cuobjdump: resources, code, instructions. Needs no GPU."""

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from solwatch.judge.instructions import instruction_mix
from solwatch.judge.kernel_names import short_title
from solwatch.judge.occupancy import RESERVED_SHARED_BYTES
from solwatch.model.why import KernelCode
from solwatch.workspace.cuda_tools import ToolFailed, find_tool, run_tool
from solwatch.workspace.demangling import demangled
from solwatch.workspace.files import write_atomically
from solwatch.workspace.machine_code import without_module_ids

FATBIN = b".nv_fatbin"
MOST_BYTES = 512 << 20
LIMIT_S = 60.0
_FORMAT = 1
"""Number of what is kept; another one is read anew."""

_ARCHITECTURE = re.compile(r"sm_(\d+)([af]?)")
_FUNCTION = re.compile(r"^\s*Function\s*:?\s*(\S+?):?\s*$")
_RESOURCES = re.compile(r"(REG|STACK|SHARED):(\d+)")
_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")


@dataclass(frozen=True)
class Disassembler:
    """CUDA's tools as they were found. ``cache``: the folder where what they said is kept, by content."""

    cuobjdump: str
    environment: Mapping[str, str]
    cache: Path

    @classmethod
    def found(cls, environment: Mapping[str, str], cache: Path) -> "Disassembler":
        """Return the tools of this machine; raises ``ToolFailed`` without cuobjdump."""
        cuobjdump = find_tool("cuobjdump", environment)
        if cuobjdump is None:
            raise ToolFailed(
                "no cuobjdump on PATH, below CUDA_HOME or among the packages: registers, spills and instructions of "
                "the kernels are not shown; pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm"
            )
        # nvdisasm is looked for on PATH by cuobjdump itself
        nvdisasm = find_tool("nvdisasm", environment)
        folders = [str(Path(tool).parent) for tool in (nvdisasm, cuobjdump) if tool]
        path = os.pathsep.join([*folders, environment.get("PATH", "")])
        return cls(cuobjdump, {**environment, "PATH": path}, cache)

    def kernels(self, libraries: Iterable[Path], capability: tuple[int, int]) -> dict[str, KernelCode]:
        """Return the kernels that a GPU of ``capability`` runs of ``libraries``, by mangled name, no instructions yet.

        Names lose what changes with the folder that a file was compiled in. Raises ``ToolFailed``.
        """
        found: dict[str, KernelCode] = {}
        for library in libraries:
            key = f"kernels {_FORMAT} {capability} {hashlib.sha256(library.read_bytes()).hexdigest()}"
            found |= self._kept(key, partial(self._kernels, library, capability))
        return found

    def with_instructions(
        self, kernels: Mapping[str, KernelCode], libraries: Iterable[Path], capability: tuple[int, int], names: set[str]
    ) -> dict[str, KernelCode]:
        """Return those of ``kernels`` whose name is in ``names`` with their instructions; raises ``ToolFailed``."""
        wanted = {name: kernels[name] for name in names if name in kernels}
        if not wanted:
            return {}
        digests = sorted(code.digest for code in wanted.values())
        key = f"instructions {_FORMAT} {capability} {' '.join(digests)}"
        return self._kept(key, partial(self._disassembled, wanted, libraries, capability))

    def _kernels(self, library: Path, capability: tuple[int, int]) -> dict[str, KernelCode]:
        found: dict[str, KernelCode] = {}
        with tempfile.TemporaryDirectory() as folder:
            for cubin in self._cubins(library, capability, Path(folder)):
                digests = _digests(cubin)
                for name, resources in _resources(self._ask("-res-usage", str(cubin))):
                    if name not in digests:
                        continue
                    plain_name = without_module_ids(name)
                    found[plain_name] = KernelCode(
                        title=short_title(demangled(plain_name)),
                        digest=digests[name],
                        registers=resources.get("REG", 0),
                        stack_bytes=resources.get("STACK", 0),
                        shared_bytes=_static_shared(resources.get("SHARED", 0), capability),
                    )
        return found

    def _disassembled(
        self, wanted: Mapping[str, KernelCode], libraries: Iterable[Path], capability: tuple[int, int]
    ) -> dict[str, KernelCode]:
        found = dict(wanted)
        with tempfile.TemporaryDirectory() as folder:
            for number, library in enumerate(libraries):
                for cubin in self._cubins(library, capability, Path(folder) / str(number)):
                    here = [name for name in _digests(cubin) if without_module_ids(name) in wanted]
                    if here:
                        for name, lines in _listings(self._ask("-sass", "-fun", ",".join(here), str(cubin))):
                            plain_name = without_module_ids(name)
                            mix = instruction_mix(lines)
                            found[plain_name] = msgspec.structs.replace(
                                found[plain_name],
                                instructions=mix.counts,
                                local_store_bytes=mix.store_bytes,
                                local_load_bytes=mix.load_bytes,
                                indexed=mix.indexed,
                            )
        return found

    def _cubins(self, library: Path, capability: tuple[int, int], folder: Path) -> list[Path]:
        """Return the cubins of ``library`` for a GPU of ``capability``, those that a more special one hides first."""
        folder.mkdir(parents=True, exist_ok=True)
        if library.suffix == ".cubin":
            return [library]
        self._ask("-xelf", "all", str(library.resolve()), cwd=folder)
        fitting = [
            (rank, cubin)
            for cubin in sorted(folder.glob("*.cubin"))
            if (rank := _fitness(cubin.name.split(".")[-2], capability)) is not None
        ]
        return [cubin for _, cubin in sorted(fitting, key=lambda each: each[0])]

    def _ask(self, *options: str, cwd: Path | None = None) -> str:
        return run_tool([self.cuobjdump, *options], limit_s=LIMIT_S, environment=self.environment, cwd=cwd)

    def _kept(self, key: str, read: Callable[[], dict[str, KernelCode]]) -> dict[str, KernelCode]:
        path = self.cache / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=dict[str, KernelCode])
        except (OSError, msgspec.DecodeError):
            found = read()
        write_atomically(path, msgspec.json.encode(found))
        return found


def libraries_of(folder: Path) -> list[Path]:
    """Return the files below ``folder`` that hold CUDA machine code; one too large to be read in reason is left out."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not (path.suffix == ".cubin" or ".so" in path.name):
            continue
        if path.stat().st_size <= MOST_BYTES and (path.suffix == ".cubin" or FATBIN in path.read_bytes()):
            found.append(path)
    return found


def _fitness(architecture: str, capability: tuple[int, int]) -> tuple[int, bool] | None:
    """Return how close code for ``architecture`` (``sm_90a``) is to the GPU, ``None`` where it can't run on it."""
    match = _ARCHITECTURE.fullmatch(architecture)
    if match is None:
        return None
    number, special = int(match[1]), match[2]
    major, minor = divmod(number, 10)
    if major != capability[0] or minor > capability[1] or (special == "a" and minor != capability[1]):
        return None
    return minor, bool(special)


def _static_shared(listed_bytes: int, capability: tuple[int, int]) -> int:
    """Return a block's own static shared memory: from capability 9.0 on the system's share is listed with it."""
    reserved = RESERVED_SHARED_BYTES if capability >= (9, 0) else 0
    return listed_bytes - reserved if listed_bytes >= reserved else listed_bytes


def _digests(cubin: Path) -> dict[str, str]:
    """Return kernel or function -> SHA-256 of its instructions and the constants among them."""
    found = {}
    try:
        with cubin.open("rb") as file:
            elf = ELFFile(file)
            sections = [section for section in elf.iter_sections() if section["sh_type"] != "SHT_NOBITS"]
            contents = {section.name: section.data() for section in sections}
    except (ELFError, ValueError, KeyError) as error:
        raise ToolFailed(f"{cubin.name} is no cubin that can be read: {error}") from None
    for section, content in contents.items():
        if section.startswith(".text."):
            name = section.removeprefix(".text.")
            digest = hashlib.sha256(content)
            for bank in ("2", "4", "5"):  # literals that the instructions read; 0 is the arguments, 3 the module's
                digest.update(contents.get(f".nv.constant{bank}.{name}", b""))
            found[name] = digest.hexdigest()
    return found


def _resources(text: str) -> Iterable[tuple[str, dict[str, int]]]:
    name = None
    for line in text.splitlines():
        if match := _FUNCTION.match(line):
            name = match[1]
        elif name is not None and "REG:" in line:
            yield name, {key: int(value) for key, value in _RESOURCES.findall(line)}
            name = None


def _listings(text: str) -> Iterable[tuple[str, list[str]]]:
    name: str | None = None
    lines: list[str] = []
    for line in text.splitlines():
        if match := _FUNCTION.match(line):
            if name is not None:
                yield name, lines
            name, lines = match[1], []
        elif match := _INSTRUCTION.match(line):
            lines.append(match[1])
    if name is not None:
        yield name, lines
