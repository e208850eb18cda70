"""Why a cell is slower or faster: conclusions that the evidence allows, and silence where it allows none."""

from collections.abc import Iterable, Mapping, Sequence

from solwatch.judge.instructions import ALL, COPIES, MATRIX
from solwatch.judge.judgement import CellFacts
from solwatch.judge.kernel_pairs import KernelPair, KernelSide, Reasons, kernel_pairs
from solwatch.judge.profiled import profile_sentences
from solwatch.model.record import CLOCK_FAULTS, Record
from solwatch.model.verdict import CellVerdict, Verdict
from solwatch.model.why import Called, Why

EXPLAINED = frozenset({Verdict.SLOWER, Verdict.FASTER, Verdict.ACCEPTED})
"""Verdicts that evidence is collected for."""

MACHINE_CODE = "machine code"
_NOTHING = Reasons(sentences=[], head_plan={}, base_plan={}, kernels=[])


def reasons(verdict: Verdict, facts: CellFacts, head: Called, base: Called, why: Why | None) -> Reasons:
    """Return why the cell of ``facts`` is as ``verdict`` says; sentences only of what goes in that direction.

    A difference between the sides that may go either way (another tile) is named as what it is.
    """
    pairs = kernel_pairs(facts.key, head, base, why)
    worse = verdict is not Verdict.FASTER
    profiles = why.profiles.get(facts.key) if why else None
    sentences = [
        *_plan_sentences(head.plan, base.plan),
        *_launch_sentences(pairs, facts, worse),
        *(sentence for pair in pairs for sentence in _pair_sentences(pair, worse, len(pairs) > 1)),
        *(profile_sentences(profiles, worse) if profiles else []),
        *_clock_sentences(facts, worse),
    ]
    if not sentences:
        sentences = _same_code_sentences(pairs, head, base, why)
    return Reasons(sentences=sentences, head_plan=head.plan, base_plan=base.plan, kernels=pairs, profiles=profiles)


def all_reasons(record: Record, verdicts: Iterable[CellVerdict], facts: Mapping[str, CellFacts]) -> dict[str, Reasons]:
    """Return the reasons of every cell that is slower or faster and has something to show, by key."""
    wanted = [cell for cell in verdicts if cell.verdict in EXPLAINED and facts[cell.key].base is not None]
    called = calls_of(record, {cell.key for cell in wanted})
    found = {cell.key: reasons(cell.verdict, facts[cell.key], *called[cell.key], record.why) for cell in wanted}
    return {key: each for key, each in found.items() if each != _NOTHING}


def calls_of(record: Record, keys: set[str]) -> dict[str, tuple[Called, Called]]:
    """Return what head's and base's call of each cell runs; empty where no round has told."""
    found = {key: [Called(), Called()] for key in keys}
    for round_ in record.rounds:
        for cell in round_.cells:
            for place, side in enumerate((cell.head, cell.base)):
                if cell.key in found and side is not None and side.called is not None:
                    found[cell.key][place] = side.called
    return {key: (head, base) for key, (head, base) in found.items()}


def _plan_sentences(head: Mapping[str, str], base: Mapping[str, str]) -> list[str]:
    if not head or not base:
        return []
    changed = [name for name in head if name in base and head[name] != base[name]]
    main = [name for name in ("kernel", "tile") if name in changed]
    named = [f"another {name}: {base[name]} → {head[name]}" for name in main]
    others = [f"{name} {base[name]} → {head[name]}" for name in changed if name not in main]
    return [", ".join(named + others)] if named or others else []


def _launch_sentences(pairs: Sequence[KernelPair], facts: CellFacts, worse: bool) -> list[str]:
    head, base = facts.head.launches, facts.base.launches if facts.base else None
    if head is None or base is None or head == base or (head > base) != worse:
        return []
    more = abs(head - base)
    only = [side.title for pair in pairs if (side := _alone(pair, head=head > base)) is not None]
    named = f": {', '.join(only[:3])}" if only else ""
    count = "one launch" if more == 1 else f"{more} launches"
    return [f"{count} {'more' if head > base else 'less'}, {base} → {head}{named}"]


def _alone(pair: KernelPair, *, head: bool) -> KernelSide | None:
    mine, other = (pair.head, pair.base) if head else (pair.base, pair.head)
    return mine if other is None else None


def _pair_sentences(pair: KernelPair, worse: bool, several: bool) -> list[str]:
    head, base = pair.head, pair.base
    if head is None or base is None:
        return []
    sentences = [*_local_sentences(head, base, worse), *_occupancy_sentences(head, base, worse)]
    sentences += _mix_sentences(head, base, worse)
    if head.launch and base.launch and head.launch.block != base.launch.block and head.title == base.title:
        sentences.append(f"threads a block {base.threads} → {head.threads}")
    if not sentences and pair.same_code is False and head.title == base.title:
        sentences = [f"the kernel's machine code has changed{_instructions(head, base)}"]
    return [f"{head.title}: {sentence}" for sentence in sentences] if several else sentences


def _instructions(head: KernelSide, base: KernelSide) -> str:
    counts = [side.code.instructions[ALL] for side in (base, head) if side.code and side.code.instructions]
    return f": {counts[0]} → {counts[1]} instructions" if len(counts) == 2 and counts[0] != counts[1] else ""


def _local_sentences(head: KernelSide, base: KernelSide, worse: bool) -> list[str]:
    before, after = _local_bytes(base), _local_bytes(head)
    if before is None or after is None or before == after or (after > before) != worse:
        return []
    spilled = all(side.code is None or not side.code.indexed for side in (head, base))
    has_mix = all(side.code and side.code.instructions for side in (head, base))
    what = ("spills" if spilled else "local memory") if has_mix else "stack"
    if before == 0:
        return [f"{what} appeared: 0 → {after} bytes a thread"]
    if after == 0:
        return [f"{what} gone: {before} → 0 bytes a thread"]
    return [f"{what} {'grew' if after > before else 'shrank'}: {before} → {after} bytes a thread"]


def _local_bytes(side: KernelSide) -> int | None:
    """Return the bytes that a thread stores to and loads from local memory, its stack where that isn't known."""
    code = side.code
    if code is None:
        return None
    if code.local_store_bytes is None or code.local_load_bytes is None:
        return code.stack_bytes
    return max(code.local_store_bytes, code.local_load_bytes)


def _occupancy_sentences(head: KernelSide, base: KernelSide, worse: bool) -> list[str]:
    before, after = base.occupancy, head.occupancy
    if before is None or after is None or before == after or (after < before) != worse:
        return []
    causes = []
    if head.registers != base.registers:
        causes.append(f"registers {base.registers} → {head.registers} a thread")
    if head.shared_bytes != base.shared_bytes:
        causes.append(f"shared memory {_kib(base.shared_bytes)} → {_kib(head.shared_bytes)} a block")
    if head.threads != base.threads:
        causes.append(f"threads {base.threads} → {head.threads} a block")
    blocks = f"{base.blocks_per_sm} → {head.blocks_per_sm} blocks on an SM"
    return [f"{', '.join([*causes, blocks])}: occupancy {_percent(before)} → {_percent(after)}"]


def _mix_sentences(head: KernelSide, base: KernelSide, worse: bool) -> list[str]:
    """Say which way of multiplying matrices or of copying was given up or taken up."""
    ours = head.code.instructions if head.code else None
    theirs = base.code.instructions if base.code else None
    if ours is None or theirs is None:
        return []
    sentences = []
    for family in (MATRIX, COPIES):
        gone = [name for name in family if theirs.get(name) and not ours.get(name)]
        come = [name for name in family if ours.get(name) and not theirs.get(name)]
        if gone or come:
            lost = [f"{name} {theirs[name]} → 0" for name in gone] + [f"{name} 0 → {ours[name]}" for name in come]
            if (worse and gone) or (not worse and come):
                sentences.append(f"other instructions do the work: {', '.join(lost)}")
    return sentences


def _clock_sentences(facts: CellFacts, worse: bool) -> list[str]:
    if facts.base is None:
        return []
    slow, other = (facts.head, facts.base) if worse else (facts.base, facts.head)
    names = ("head", "base") if worse else ("base", "head")
    bits, others = slow.state.throttle_reasons, other.state.throttle_reasons
    if bits is None or others is None:
        return []
    only = [name for bit, name in CLOCK_FAULTS.items() if bits & bit and not others & bit]
    return [f"{names[0]}'s clock was held back by {', '.join(only)}, {names[1]}'s was not"] if only else []


def _same_code_sentences(pairs: Sequence[KernelPair], head: Called, base: Called, why: Why | None) -> list[str]:
    if why is None or head.plan != base.plan:
        return []
    if pairs and all(pair.same_code and _launched_alike(pair) for pair in pairs):
        kernel = "the kernel is" if len(pairs) == 1 else f"all {len(pairs)} kernels is"
        return [f"the machine code of {kernel} the same: look at the host's side, clocks and placement"]
    changed = [name for kind, names in why.files.items() if kind != MACHINE_CODE for name in names]
    if why.files.get(MACHINE_CODE) == [] and changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        return [f"no machine code differs between the builds; what does: {', '.join(changed[:3])}{more}"]
    return []


def _launched_alike(pair: KernelPair) -> bool:
    head, base = pair.head, pair.base
    if head is None or base is None or head.launch is None or base.launch is None:
        return (head and head.launch) is (base and base.launch)
    return (head.launch.grid, head.launch.block, head.launch.dynamic_shared_bytes) == (
        base.launch.grid,
        base.launch.block,
        base.launch.dynamic_shared_bytes,
    )


def _kib(size_bytes: int | None) -> str:
    return "unknown" if size_bytes is None else f"{size_bytes / 1024:.4g} KiB"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.3g} %"
