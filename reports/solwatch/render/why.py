"""Why a cell is slower, as shown: conclusions first, then what they rest on, base beside head."""

from collections.abc import Callable
from dataclasses import dataclass

from solwatch.judge.instructions import ALL, CLASSES
from solwatch.judge.judgement import CellFacts, Judgement
from solwatch.judge.kernel_pairs import KernelPair, KernelSide, Reasons
from solwatch.model.plain import plain
from solwatch.model.record import Record
from solwatch.model.verdict import CellVerdict
from solwatch.model.why import KernelChanges, Profile
from solwatch.render.details import cell_detail
from solwatch.render.units import ABSENT, percentage, scaled

AROUND = ("kernels launched", "clock, mean", "clocks held back by")
"""Lines of a cell's details that belong to the reasons too."""

MOST_KERNELS = 6
MOST_NAMED = 3
MOST_STALLS = 4
_NAME_LIMIT = 120


@dataclass(frozen=True)
class Figure:
    """One line of a table. ``changed``: the sides differ."""

    name: str
    base: str
    head: str

    @property
    def changed(self) -> bool:
        """Whether both sides are known and differ."""
        return self.base != self.head and ABSENT not in (self.base, self.head)


@dataclass(frozen=True)
class FigureTable:
    """Lines under a ``title``: of one kernel, of a plan, of a profile."""

    title: str
    figures: list[Figure]

    @property
    def differing(self) -> list[Figure]:
        """The lines whose sides differ, or of which one side isn't known."""
        return [figure for figure in self.figures if figure.base != figure.head]

    @property
    def same(self) -> str:
        """The other lines, one after the other."""
        return "; ".join(f"{figure.name} {figure.head}" for figure in self.figures if figure.base == figure.head)


@dataclass(frozen=True)
class WhyView:
    """``sentences``: the conclusions. ``tables``: what they rest on. ``left_out``: kernels that are not shown."""

    sentences: list[str]
    tables: list[FigureTable]
    left_out: int


def why_views(judgement: Judgement) -> dict[str, WhyView]:
    """Return what is shown of each cell that has reasons, by its key."""
    cells = {cell.key: cell for cell in judgement.verdicts}
    return {
        key: _view(found, _circumstances(cells[key], judgement.facts[key])) for key, found in judgement.reasons.items()
    }


def why_notes(record: Record) -> list[str]:
    """Return lines about both builds: which kernels differ, and what could not be looked into."""
    if record.why is None:
        return []
    changes = [_changes(record.why.kernels)] if record.why.kernels else []
    return [plain(line) for line in [*changes, *record.why.notes]]


def _table(title: str, figures: list[Figure]) -> FigureTable:
    """Return a table whose texts can all be shown: names and plans come from outside."""
    shown = [Figure(plain(each.name), plain(each.base), plain(each.head)) for each in figures]
    return FigureTable(plain(title), shown)


def _changes(kernels: KernelChanges) -> str:
    parts = [f"{kernels.same} kernels of the builds have the same machine code"]
    for titles, what in (
        (kernels.differing, "differ"),
        (kernels.only_head, "are in head alone"),
        (kernels.only_base, "are in base alone"),
    ):
        if titles:
            more = f" and {len(titles) - MOST_NAMED} more" if len(titles) > MOST_NAMED else ""
            parts.append(f"{len(titles)} {what} ({', '.join(titles[:MOST_NAMED])}{more})")
    return ", ".join(parts)


def _circumstances(cell: CellVerdict, facts: CellFacts) -> FigureTable:
    """Return what was around the kernels while they were measured."""
    figures = [Figure(name, base, head) for name, head, base in cell_detail(cell, facts).figures if name in AROUND]
    caches = [", ".join(each[:8] for each in side.caches) if side else "" for side in (facts.base, facts.head)]
    if any(caches):
        figures.append(Figure("JIT and autotune caches", *(text or ABSENT for text in caches)))
    return _table("around it", figures)


def _view(found: Reasons, around: FigureTable) -> WhyView:
    tables = [_plan_table(found), *(_kernel_table(pair) for pair in found.kernels[:MOST_KERNELS])]
    if found.profiles is not None:
        launches = zip(found.profiles.base, found.profiles.head, strict=False)
        tables += [_profile_table(base, head) for base, head in list(launches)[:MOST_KERNELS]]
    tables.append(around)
    return WhyView(
        sentences=[plain(sentence) for sentence in found.sentences],
        tables=[table for table in tables if table.figures],
        left_out=max(0, len(found.kernels) - MOST_KERNELS),
    )


def _plan_table(found: Reasons) -> FigureTable:
    names = list(dict.fromkeys([*found.head_plan, *found.base_plan]))
    figures = [Figure(name, found.base_plan.get(name, ABSENT), found.head_plan.get(name, ABSENT)) for name in names]
    return _table("what explain says", figures)


def _kernel_table(pair: KernelPair) -> FigureTable:
    titles = [side.title[:_NAME_LIMIT] for side in (pair.base, pair.head) if side is not None]
    title = titles[0] if len(set(titles)) == 1 else " → ".join(titles)
    if pair.base is None or pair.head is None:
        title += " (in head alone)" if pair.base is None else " (in base alone)"
    figures = [Figure(name, _read(pair.base, read), _read(pair.head, read)) for name, read in _KERNEL_FIGURES]
    if pair.same_code is not None:
        state = "unchanged" if pair.same_code else "changed"
        figures.insert(0, Figure("machine code", state if pair.same_code else "", state))
    figures += [
        Figure("instructions, all" if name == ALL else name, _count(pair.base, name), _count(pair.head, name))
        for name in (ALL, *CLASSES)
        if {_count(pair.base, name), _count(pair.head, name)} - {"0", ABSENT}
    ]
    known = [figure for figure in figures if (figure.base, figure.head) != (ABSENT, ABSENT)]
    return _table(title, known)


def _read(side: KernelSide | None, read: Callable[[KernelSide], str]) -> str:
    return ABSENT if side is None else read(side)


def _count(side: KernelSide | None, name: str) -> str:
    counts = side.code.instructions if side and side.code else None
    return ABSENT if counts is None else str(counts.get(name, 0))


def _number(value: int | None) -> str:
    return ABSENT if value is None else f"{value:,}"


def _kib(size_bytes: int | None) -> str:
    return ABSENT if size_bytes is None else f"{size_bytes / 1024:.4g} KiB"


def _spills(side: KernelSide) -> str:
    """Return what a thread stores and loads of local memory, its stack where the instructions aren't known."""
    code = side.code
    if code is None:
        return ABSENT if side.launch is None else _of_bytes(side.launch.local_bytes)
    if code.local_store_bytes is None or code.local_load_bytes is None:
        return f"{code.stack_bytes} B of stack"
    stored, loaded = code.local_store_bytes, code.local_load_bytes
    return f"{stored} B stored, {loaded} B loaded" if stored or loaded else "0 B"


def _of_bytes(size_bytes: int | None) -> str:
    return ABSENT if size_bytes is None else f"{size_bytes} B"


def _occupancy(side: KernelSide) -> str:
    if side.occupancy is None:
        return ABSENT
    return f"{percentage(side.occupancy)}, {side.blocks_per_sm} blocks, limited by {side.limited_by}"


def _extent(sizes: list[int] | None) -> str:
    if sizes is None:
        return ABSENT
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes = sizes[:-1]
    return " × ".join(f"{size:,}" for size in sizes)


_KERNEL_FIGURES: list[tuple[str, Callable[[KernelSide], str]]] = [
    ("registers", lambda side: _number(side.registers)),
    ("spills", _spills),
    ("shared memory a block", lambda side: _kib(side.shared_bytes)),
    ("threads a block", lambda side: _number(side.threads)),
    ("blocks", lambda side: _extent(side.launch.grid if side.launch else None)),
    ("occupancy, theoretical", _occupancy),
]


def _profile_table(base: Profile, head: Profile) -> FigureTable:
    title = base.kernel if base.kernel == head.kernel else f"{base.kernel} → {head.kernel}"
    stalls = sorted({*base.stalls, *head.stalls}, key=lambda name: -max(_stall(base, name), _stall(head, name)))
    figures = [Figure(name, read(base), read(head)) for name, read in _PROFILE_FIGURES]
    figures += [
        Figure(f"stall: {name}, cycles", f"{_stall(base, name):.3g}", f"{_stall(head, name):.3g}")
        for name in stalls[:MOST_STALLS]
    ]
    known = [figure for figure in figures if (figure.base, figure.head) != (ABSENT, ABSENT)]
    return _table(f"{title}, under Nsight Compute", known)


def _stall(launch: Profile, name: str) -> float:
    return launch.stalls.get(name, 0.0)


_PROFILE_FIGURES: list[tuple[str, Callable[[Profile], str]]] = [
    ("time, caches flushed", lambda launch: scaled(launch.duration_s, "s")),
    ("DRAM, of its peak", lambda launch: percentage(launch.dram_share)),
    ("DRAM, moved", lambda launch: scaled(launch.dram_bytes, "B", 3)),
    ("tensor pipe, of its peak", lambda launch: percentage(launch.tensor_share)),
    ("occupancy, achieved", lambda launch: percentage(launch.occupancy)),
]
