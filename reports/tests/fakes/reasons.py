"""What is known of both sides' kernels, made up: for tests of what is concluded from it and how it is shown."""

from typing import Any

import msgspec
from fakes.records import FakeCell, record

from solwatch.model.record import Record
from solwatch.model.why import Called, KernelChanges, KernelCode, KernelNames, Launch, Profile, ProfilePair, Why

NAME = "_ZN12fused_o_proj15mma_tile_kernelI13__nv_bfloat16JLi64ELi128EEEEvPT_"
TITLE = "fused_o_proj::mma_tile_kernel<__nv_bfloat16, 64, 128>"
H200_CAPABILITY = (9, 0)


KEY = "o_proj.OProj(16, 'llama-3-70b')"


def code(**changed: Any) -> KernelCode:
    """Return a kernel's code; what isn't said is of a kernel that spills nothing."""
    known: dict[str, Any] = {
        "title": TITLE,
        "digest": "5eed",
        "registers": 128,
        "stack_bytes": 0,
        "shared_bytes": 0,
        "instructions": {"all": 1204, "mma": 128, "shared loads": 96},
        "local_store_bytes": 0,
        "local_load_bytes": 0,
    }
    return KernelCode(**{**known, **changed})


def launch(**changed: Any) -> Launch:
    """Return a launch of that kernel, as a driver of which nothing more is known tells it."""
    known: dict[str, Any] = {
        "kernel": NAME,
        "grid": [64, 1, 1],
        "block": [128, 1, 1],
        "dynamic_shared_bytes": 48 << 10,
        "static_shared_bytes": 0,
    }
    return Launch(**{**known, **changed})


def called(*launches: Launch, **plan: str) -> Called:
    """Return what a side's call runs."""
    return Called(plan=plan, launches=list(launches) or None)


def why_of(key: str, head: KernelCode, base: KernelCode, **changed: Any) -> Why:
    """Return what was collected of one cell whose call launches one kernel, by the same name on both sides."""
    differing = [head.title] if head.digest != base.digest else []
    found = Why(
        capability=H200_CAPABILITY,
        kernels=KernelChanges(same=17, differing=differing, only_head=[], only_base=[]),
        head={NAME: head},
        base={NAME: base},
        calls={key: KernelNames(head=[NAME], base=[NAME])},
    )
    return msgspec.structs.replace(found, **changed)


def profiles(head: Profile, base: Profile) -> ProfilePair:
    """Return one launch on each side."""
    return ProfilePair(head=[head], base=[base])


def with_calls(record: Record, key: str, head: Called, base: Called) -> Record:
    """Return ``record`` with what a call of the cell ``key`` runs, told in its first round."""
    first, *others = record.rounds
    cells = [
        msgspec.structs.replace(
            cell,
            head=msgspec.structs.replace(cell.head, called=head),
            base=msgspec.structs.replace(cell.base, called=base) if cell.base else None,
        )
        if cell.key == key
        else cell
        for cell in first.cells
    ]
    return msgspec.structs.replace(record, rounds=[msgspec.structs.replace(first, cells=cells), *others])


def explained(*others: FakeCell, **changed: Any) -> Record:
    """Return the record of a gate in which the cell ``KEY`` got slower and everything is known of why.

    ``others``: the cells beside it. ``changed`` replaces fields.
    """
    taken = record([FakeCell(key=KEY, ratio=1.05), *(others or [FakeCell(key="b")])])
    head = called(launch(), kernel="mma_tile", tile="128×128×64", stages="3")
    base = called(launch(), kernel="mma_tile", tile="64×128×64", stages="3")
    spilling = code(digest="c0de", registers=168, local_store_bytes=48, local_load_bytes=40)
    counted = Profile(kernel="k", duration_s=18e-6, dram_share=0.61, stalls={"barrier": 0.5, "wait": 1.25})
    found = why_of(KEY, spilling, code(), profiles={KEY: profiles(counted, counted)}, notes=["ncu: <b>no</b>"])
    return msgspec.structs.replace(with_calls(taken, KEY, head, base), why=found, **changed)
