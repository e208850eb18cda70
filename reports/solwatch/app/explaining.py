"""The plot of why: after a gate, collect what explains the cells that got slower or faster, and keep it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from solwatch.app.builds import Built
from solwatch.app.profiling import profiled
from solwatch.app.session import Services, Session
from solwatch.device.cards import visible_cards
from solwatch.judge.judgement import Judgement
from solwatch.judge.kernel_names import kernel_of_plan
from solwatch.judge.reasons import EXPLAINED, calls_of
from solwatch.model.errors import SolwatchError
from solwatch.model.record import Record
from solwatch.model.why import Called, KernelChanges, KernelCode, KernelNames, Why
from solwatch.workspace.contents import contents_of_build
from solwatch.workspace.cubins import Disassembler, libraries_of
from solwatch.workspace.cuda_tools import ToolFailed
from solwatch.workspace.machine_code import without_module_ids

MOST_NAMED = 40
CACHE = "kernels"


def why(services: Services, ready: Session, record: Record, judgement: Judgement, *, profile: bool) -> Why | None:
    """Collect what explains the slower and faster cells; ``None`` where there are none or there is no base.

    ``profile``: with ncu where it is there. What can't be collected is a note of one line; nothing here ends a gate
    that has its verdict.
    """
    keys = [cell.key for cell in judgement.verdicts if cell.verdict in EXPLAINED and judgement.facts[cell.key].base]
    if not keys or ready.base is None:
        return None
    services.say(
        f"looking for the reason in {len(keys)} cell{'s' if len(keys) != 1 else ''} (build, kernels, profiler)"
    )
    found = Why()
    try:
        found = Why(files=_differing_files(ready.head, ready.base))
        if ready.device_type != "cuda":
            return found
        found = msgspec.structs.replace(found, capability=visible_cards()[ready.bench.gpu or 0].capability)
        found = _with_kernels(services, ready, record, found, calls_of(record, set(keys)))
    except (ToolFailed, SolwatchError, OSError, IndexError) as error:
        found.notes.append(str(error) or "the driver names no GPU")
    if not profile or ready.device_type != "cuda":
        return found
    slower = [key for key in _worst_first(judgement, keys) if _is_suite_cell(record, key)]
    profiles, notes = profiled(services, ready, slower)
    return msgspec.structs.replace(found, profiles=profiles, notes=[*found.notes, *notes])


def _is_suite_cell(record: Record, key: str) -> bool:
    return any(cell.key == key and cell.kind == "suite" for cell in record.header.cells)


def _worst_first(judgement: Judgement, keys: Sequence[str]) -> list[str]:
    ratios = {cell.key: cell.slowdown_ratio.point for cell in judgement.verdicts if cell.slowdown_ratio}
    return sorted((key for key in keys if ratios.get(key, 0.0) > 1), key=lambda key: -ratios[key])


def _differing_files(head: Built, base: Built) -> dict[str, list[str]]:
    """Return kind -> files that differ between the builds; empty where the sides are environments."""
    if head.environment is not None or base.environment is not None:
        return {}
    ours, theirs = (contents_of_build(Path(one.side.path[0]), one.commit.build or "") for one in (head, base))
    return {
        kind: [name for name in sorted({*files, *theirs[kind]}) if files.get(name) != theirs[kind].get(name)]
        for kind, files in ours.items()
    }


def _with_kernels(
    services: Services, ready: Session, record: Record, found: Why, calls: Mapping[str, tuple[Called, Called]]
) -> Why:
    """Return ``found`` with the kernels of both builds compared and those of the cells in ``calls`` in detail."""
    assert ready.base is not None, "asked of two sides"
    capability = found.capability
    assert capability is not None, "asked of a GPU"
    home = services.repository.root / record.header.config.records
    tools = Disassembler.found(services.environment, home / CACHE)
    libraries = [_libraries(ready, built) for built in (ready.head, ready.base)]
    head, base = (tools.kernels(of_side, capability) for of_side in libraries)
    if not head and not base:
        return _noted(found, f"the builds have no kernels for compute capability {'.'.join(map(str, capability))}")
    named = {key: _names(pair, _dtype(record, key), head, base) for key, pair in calls.items()}
    found = msgspec.structs.replace(found, kernels=_changes(head, base), calls=named)
    ours = {name for names in named.values() for name in names.head}
    theirs = {name for names in named.values() for name in names.base}
    try:
        head = tools.with_instructions(head, libraries[0], capability, ours)
        base = tools.with_instructions(base, libraries[1], capability, theirs)
    except ToolFailed as error:  # no nvdisasm: all but instructions and spills is known
        found = _noted(found, f"instructions and spills are not shown: {error}")
    return msgspec.structs.replace(found, head=_only(head, ours), base=_only(base, theirs))


def _names(
    called: tuple[Called, Called], dtype: str | None, head: Mapping[str, KernelCode], base: Mapping[str, KernelCode]
) -> KernelNames:
    ours, theirs = (_names_of_side(one, dtype, codes) for one, codes in zip(called, (head, base), strict=True))
    return KernelNames(head=ours, base=theirs)


def _names_of_side(called: Called, dtype: str | None, codes: Mapping[str, KernelCode]) -> list[str]:
    """Return the kernels of a call as they are named in ``codes``: those launched, else the one of the plan."""
    if called.launches is not None:
        return [without_module_ids(launch.kernel) for launch in called.launches]
    name = kernel_of_plan(codes, called.plan, dtype)
    return [name] if name is not None else []


def _dtype(record: Record, key: str) -> str | None:
    work = record.header.work.get(key)
    return work.dtype if work else None


def _changes(head: Mapping[str, KernelCode], base: Mapping[str, KernelCode]) -> KernelChanges:
    differing = [name for name in head if name in base and head[name].digest != base[name].digest]
    return KernelChanges(
        same=sum(name in base for name in head) - len(differing),
        differing=_titles(head, differing),
        only_head=_titles(head, [name for name in head if name not in base]),
        only_base=_titles(base, [name for name in base if name not in head]),
    )


def _titles(codes: Mapping[str, KernelCode], names: Sequence[str]) -> list[str]:
    titles = sorted(codes[name].title for name in names)
    return titles[:MOST_NAMED] + ([f"{len(titles) - MOST_NAMED} more"] if len(titles) > MOST_NAMED else [])


def _only(codes: Mapping[str, KernelCode], names: set[str]) -> dict[str, KernelCode]:
    return {name: code for name, code in codes.items() if name in names}


def _noted(found: Why, note: str) -> Why:
    return msgspec.structs.replace(found, notes=[*found.notes, note])


def _libraries(ready: Session, built: Built) -> list[Path]:
    """Return the files with CUDA code of a build, and what was compiled from it just in time."""
    folders = [*map(Path, built.side.path), *sorted(ready.bench.caches_dir.glob(f"{built.side.name}-*"))]
    if built.environment is not None:  # what it has a copy of its own of was measured in the build's place
        home = Path(built.environment.path)
        for module in built.environment.own:
            folders += sorted(home.glob(f"lib*/python*/site-packages/{module}"))
    return [path for folder in folders for path in libraries_of(folder)]
