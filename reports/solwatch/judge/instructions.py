"""Classes of machine instructions: what a kernel is made of, by the opcodes of its disassembly."""

import re
from collections.abc import Iterable
from typing import NamedTuple

CLASSES = {
    "tcgen05": r"UTC(H|I|Q|O)?MMA",
    "wgmma": r"[HIQB]GMMA",
    "mma": r"[HIQBDOF]MMA",
    "TMA": r"UTMA(LDG|STG|REDG|PF|CCTL)|UBLK(CP|RED|PF)",
    "async copies": r"LDGSTS",
    "global loads": r"LDG?",
    "global stores": r"STG?",
    "shared loads": r"LDSM?|LDS_LDU",
    "shared stores": r"STSM?",
    "local loads": r"LDL",
    "local stores": r"STL",
    "atomics": r"ATOM[GS]?|RED|REDG|REDAS",
    "barriers": r"BAR|SYNCS|WARPSYNC|MEMBAR|ERRBAR|UCGABAR_(ARV|WAIT)|WARPGROUP",
    "float32": r"F(ADD|MUL|FMA)2?",
}
"""Class to the opcodes in it; every instruction but padding also counts for ``all``."""

ALL = "all"
MATRIX = ("tcgen05", "wgmma", "mma")
COPIES = ("TMA", "async copies")

_CLASSES = [(name, re.compile(pattern)) for name, pattern in CLASSES.items()]
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_FIXED = re.compile(r"\[R1(\+-?0x[0-9a-f]+)?\]")
"""R1 is the stack pointer: what the compiler spills lies at constant distances from it."""


class Mix(NamedTuple):
    """``counts``: class to how many instructions. ``store_bytes``, ``load_bytes``: of local memory, each instruction
    counted once. ``indexed``: some of them take a computed address."""

    counts: dict[str, int]
    store_bytes: int
    load_bytes: int
    indexed: bool


def instruction_mix(instructions: Iterable[str]) -> Mix:
    """Return what ``instructions`` are (``LDL.64 R2, [R1+0x8]``, a predicate in front or not)."""
    counts: dict[str, int] = {ALL: 0}
    moved = {"STL": 0, "LDL": 0}
    indexed = False
    for text in instructions:
        words = text.split()
        if words and words[0].startswith("@"):
            words = words[1:]
        opcode, *modifiers = words[0].split(".") if words else [""]
        if opcode in ("", "NOP"):
            continue
        counts[ALL] += 1
        name = next((name for name, pattern in _CLASSES if pattern.fullmatch(opcode)), None)
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
        if opcode in moved:
            moved[opcode] += next((_BYTES[each] for each in modifiers if each in _BYTES), 4)
            indexed = indexed or _FIXED.search(text) is None
    return Mix(counts, moved["STL"], moved["LDL"], indexed)
