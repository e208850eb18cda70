"""What a process gets of a shared library: its code and data, without what only tools read.

CUDA's machine code lies in loaded sections of its own (``.nv_fatbin``) and counts like any other.
"""

import hashlib
import io
import re

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile

MAGIC = b"\x7fELF"
SHF_ALLOC = 0x2
_BUILD_ID = ".note.gnu.build-id"
_MODULE_ID = re.compile(rb"_[0-9a-f]{8}_(?P<length>\d{1,3})_(?P<file>\w+?_cu)_[0-9a-f]{8}")
"""What nvcc puts into the names of things that are local to a file: a hash of where it lay when it was compiled, the
file's name and its length, another hash. The name of a kernel changes with the folder, its code does not."""


def machine_code_digest(library: bytes, build: str) -> str:
    """Return a SHA-256 over what is loaded of ``library``, over all of it where that can't be told apart.

    ``build``: the build's key, which stands in every path that a compiler may have written down. Left out: the build
    id, debug information, names of local symbols. An object file or a cubin counts as it is, up to those names.
    """
    try:
        loaded = _loaded(library)
    except (ELFError, ConstructError, ValueError, KeyError, AttributeError, UnicodeDecodeError):
        loaded = None  # damaged, or of a kind that the reader doesn't know
    parts = [library] if loaded is None else loaded
    digest = hashlib.sha256()
    for part in parts:
        part = _MODULE_ID.sub(_nameless, part.replace(build.encode(), b"0" * len(build)))
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def without_module_ids(name: str) -> str:
    """Return the name of a kernel without what changes with the folder that its file was compiled in."""
    return _MODULE_ID.sub(_nameless, name.encode()).decode()


def _loaded(library: bytes) -> list[bytes] | None:
    """Return headers and contents of what is loaded; ``None`` for anything but a shared library or a program."""
    elf = ELFFile(io.BytesIO(library))
    if elf["e_type"] not in ("ET_DYN", "ET_EXEC") or elf["e_machine"] == "EM_CUDA" or not elf.num_sections():
        return None
    header = [elf["e_type"], elf["e_machine"], elf["e_flags"], elf["e_entry"], sorted(elf["e_ident"].items())]
    segments = [
        [segment[field] for field in ("p_type", "p_flags", "p_vaddr", "p_filesz", "p_memsz", "p_align")]
        for segment in elf.iter_segments()
    ]
    parts = [repr([header, segments]).encode()]
    for section in elf.iter_sections():
        if section["sh_flags"] & SHF_ALLOC and section.name != _BUILD_ID:
            fields = ("sh_type", "sh_flags", "sh_addr", "sh_size", "sh_addralign", "sh_entsize")
            parts.append(repr([section.name, *(section[field] for field in fields)]).encode())
            parts.append(b"" if section["sh_type"] == "SHT_NOBITS" else section.data())
    return parts


def _nameless(found: re.Match[bytes]) -> bytes:
    if int(found["length"]) != len(found["file"]):
        return found[0]
    return b"_00000000_%s_%s_00000000" % (found["length"], found["file"])
