"""What the gates of a bisection add up to: the gate to take next, and in the end the answer for each cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from solwatch.judge.first_slower import Line, Narrowed, Standing, narrowed, returns
from solwatch.model.bisection import Asked, CellAnswer, Figure, Found, GateTaken, PastCommit, Return, State
from solwatch.model.errors import ExitCode
from solwatch.model.verdict import CellVerdict, Verdict, exit_code

TRIES = 2
"""Gates in which a cell may stay undecided, void or broken before its commit counts as untestable."""

_STANDINGS = {
    Verdict.SLOWER: Standing.SLOWER,
    Verdict.FASTER: Standing.GOOD,
    Verdict.UNCHANGED: Standing.GOOD,
    Verdict.ACCEPTED: Standing.GOOD,
}


@dataclass(frozen=True, kw_only=True)
class Search:
    """What is searched: the commits with what each builds and measures (``keys``), and the gates taken so far.

    ``every_cell``: whether cells that another commit made slower are gone on with. ``most_untestable``: see
    ``narrowed``.
    """

    commits: Sequence[PastCommit]
    keys: Sequence[str]
    gates: Sequence[GateTaken]
    every_cell: bool
    most_untestable: int

    @property
    def last(self) -> int:
        """The number of bad; good is 0."""
        return len(self.commits) - 1

    @cached_property
    def line(self) -> Line:
        """The commits by number."""
        number = {commit.sha: place for place, commit in enumerate(self.commits)}
        parents = [tuple(number[sha] for sha in commit.parents if sha in number) for commit in self.commits]
        return Line(keys=tuple(self.keys), parents=((), *parents[1:]))

    @cached_property
    def by_keys(self) -> dict[tuple[str, str], list[GateTaken]]:
        """The gates of each pair of base and head that build and measure something else."""
        key_of = {commit.sha: key for commit, key in zip(self.commits, self.keys, strict=True)}
        found: dict[tuple[str, str], list[GateTaken]] = {}
        for gate in self.gates:
            found.setdefault((key_of[gate.base], key_of[gate.head]), []).append(gate)
        return found

    def gates_of(self, base: int, head: int) -> list[GateTaken]:
        """Return the gates of two commits by number, or of two that build and measure the same."""
        return self.by_keys.get((self.keys[base], self.keys[head]), [])


@dataclass(frozen=True, kw_only=True)
class Step:
    """A gate to take: commits by number; ``cells``: their keys, none for those that were asked for.

    ``gates_left``: how many there are to take with this one, when each decides.
    """

    base: int
    head: int
    cells: tuple[str, ...]
    gates_left: int


def slower_cells(search: Search) -> list[str]:
    """Return the cells that bad has slower than good, worst first; none before that was measured."""
    first = _first(search)
    slower = [key for key, figure in first.items() if figure.verdict is Verdict.SLOWER]
    return sorted(slower, key=lambda key: -_ratio(first[key]))


def next_step(search: Search) -> Step | None:
    """Return the gate to take next, ``None`` when there is nothing left to find out."""
    if not search.gates_of(0, search.last):
        return Step(base=0, head=search.last, cells=(), gates_left=2 + (search.last - 1).bit_length())
    slower = slower_cells(search)
    found = {cell: _narrowed(search, cell) for cell in slower}
    for cell in slower if search.every_cell else slower[:1]:
        here = found[cell]
        if here.following is not None:
            cells = [other for other in slower if other == cell or _is_told(search, other, found, here.following)]
            return Step(base=0, head=here.following, cells=tuple(cells), gates_left=here.gates_left + 1)
        if _is_open(search, cell, here.good, here.slower):
            same = [
                other
                for other in slower
                if found[other].suspects == here.suspects and _is_open(search, other, here.good, here.slower)
            ]
            return Step(base=here.good, head=here.slower, cells=tuple(same), gates_left=1)
    return None


def concluded(search: Search, asked: Asked) -> Found:
    """Return what the gates say, for each cell that bad has slower than good."""
    slower = slower_cells(search)
    answers = [_answer(search, cell) for cell in slower]
    others = {key: figure for key, figure in _first(search).items() if key not in slower}
    taken_back = [
        commit.sha
        for number, commit in enumerate(search.commits)
        if search.keys[number] == search.keys[0] and search.line.changing >> number & 1
    ]
    return Found(
        asked=asked,
        commits=list(search.commits),
        gates=list(search.gates),
        answers=answers,
        others=others,
        taken_back=taken_back,
        exit_code=_exit_code(answers, others, asked.config.undecided),
    )


def _answer(search: Search, cell: str) -> CellAnswer:
    here, standings = _narrowed(search, cell), _standings(search, cell)
    sha = [commit.sha for commit in search.commits]
    open_ = here.following is not None or _is_open(search, cell, here.good, here.slower)
    direct = _figure(search, cell, here.good, here.slower)
    return CellAnswer(
        cell=cell,
        state=State.OPEN if open_ else _state(direct),
        suspects=[sha[number] for number in here.suspects],
        untested=[sha[number] for number in here.suspects if search.keys[number] not in standings],
        before=sha[here.good],
        total=_first(search)[cell],
        against_good=_figure(search, cell, 0, here.slower),
        before_against_good=_figure(search, cell, 0, here.good),
        direct=direct,
        returns=[
            Return(
                slower=sha[slower],
                good=sha[good],
                slower_figure=_figure(search, cell, 0, slower),
                good_figure=_figure(search, cell, 0, good),
            )
            for slower, good in returns(search.line, standings)
        ],
    )


def _state(direct: Figure | None) -> State:
    standing = _STANDINGS.get(direct.verdict) if direct is not None else None
    if standing is None:
        return State.UNCONFIRMED
    return State.CONFIRMED if standing is Standing.SLOWER else State.CONTRADICTED


def _exit_code(answers: Sequence[CellAnswer], others: Mapping[str, Figure], undecided: str) -> int:
    """Return 1 for commits that a gate convicts, 4 when bad is slower and none is, else what the first gate gave.

    Broken cells and new ones are left out: they were not compared.
    """
    if answers:
        convicted = any(answer.state is State.CONFIRMED for answer in answers)
        return int(ExitCode.SLOWER if convicted else ExitCode.UNDECIDED)
    verdicts = [
        CellVerdict(key=key, verdict=figure.verdict, reason=figure.reason, gated=True)
        for key, figure in others.items()
        if figure.verdict not in (Verdict.BROKEN, Verdict.NEW)
    ]
    return int(exit_code(verdicts, undecided=undecided))


def _first(search: Search) -> dict[str, Figure]:
    gates = search.gates_of(0, search.last)
    return gates[0].cells if gates else {}


def _narrowed(search: Search, cell: str) -> Narrowed:
    return narrowed(search.line, _standings(search, cell), search.most_untestable)


def _standings(search: Search, cell: str) -> dict[str, Standing]:
    """Return what is known of each key for ``cell``, the first and the last commit's own among them."""
    found: dict[str, Standing] = {}
    for (base, head), gates in search.by_keys.items():
        if base == search.keys[0] and (standing := _standing(gates, cell)) is not None:
            found[head] = standing
    return {**found, search.keys[0]: Standing.GOOD, search.keys[-1]: Standing.SLOWER}


def _standing(gates: Sequence[GateTaken], cell: str) -> Standing | None:
    """Return what gates of one pair say of ``cell``: the first that decides counts; ``None`` while it may be tried."""
    tries = 0
    for gate in gates:
        standing = _STANDINGS.get(gate.cells[cell].verdict) if cell in gate.cells else None
        if standing is not None:
            return standing
        tries += TRIES if gate.failed is not None else cell in gate.cells
    return Standing.UNTESTABLE if tries >= TRIES else None


def _figure(search: Search, cell: str, base: int, head: int) -> Figure | None:
    """Return the first figure that decides, else the last that there is."""
    figures = [gate.cells[cell] for gate in search.gates_of(base, head) if cell in gate.cells]
    deciding = [figure for figure in figures if figure.verdict in _STANDINGS]
    return next(iter(deciding), figures[-1] if figures else None)


def _is_told(search: Search, cell: str, found: Mapping[str, Narrowed], number: int) -> bool:
    """Return whether a gate of a commit that another cell needs narrows the search for ``cell`` too."""
    return number in found[cell].suspects and _standing(search.gates_of(0, number), cell) is None


def _is_open(search: Search, cell: str, base: int, head: int) -> bool:
    return _standing(search.gates_of(base, head), cell) is None


def _ratio(figure: Figure) -> float:
    return figure.slowdown_ratio.point if figure.slowdown_ratio is not None else 1.0
