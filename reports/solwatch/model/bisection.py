"""A bisection as it is kept and told: what was asked, the commits between, the gates taken, what came of it."""

import msgspec

from solwatch.model.ci_plan import Sha
from solwatch.model.config import Config
from solwatch.model.estimate import Estimate
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.strings import StrEnum
from solwatch.model.verdict import Reason, Verdict


class PastCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit of the range. ``parents``: all of them, by sha, within the range or not; two make it a merge."""

    sha: Sha
    parents: list[Sha]
    author: str
    committed_at: str
    subject: str


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the gates of one bisection have in common; those of another are never mixed with them.

    ``good`` and ``bad`` are hashes, ``good_key`` and ``bad_key`` what they build and measure (compilers and packages
    are part of that). ``inside_merges``: whether every parent is followed.
    """

    good: Sha
    bad: Sha
    good_key: str
    bad_key: str
    inside_merges: bool
    device: str
    gpus: str | None
    cell_set: str
    patterns: list[str]
    rounds: int | None
    config: Config
    solwatch: str
    machine: str

    def differences(self, other: "Asked") -> list[str]:
        """Return the names of what differs, settings by theirs."""
        names = [
            name for name in self.__struct_fields__ if name != "config" and getattr(self, name) != getattr(other, name)
        ]
        return names + [
            name for name in Config.__struct_fields__ if getattr(self.config, name) != getattr(other.config, name)
        ]


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """What one gate said of one cell."""

    verdict: Verdict
    reason: Reason
    slowdown_ratio: Estimate | None = None


class GateTaken(msgspec.Struct, frozen=True, kw_only=True):
    """One gate of the search, head against base.

    ``record``: where its record lies, ``None`` where there is none because ``failed`` says why head could not be
    measured. ``fingerprint``: of what it was measured on.
    """

    base: Sha
    head: Sha
    created_at: str
    wall_s: float
    cells: dict[str, Figure] = msgspec.field(default_factory=dict)
    rounds: int = 0
    record: str | None = None
    failed: str | None = None
    fingerprint: Fingerprint | None = None


class Bisection(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a bisection while it goes on: all that it needs to be gone on with."""

    schema: int
    asked: Asked
    gates: list[GateTaken]


class State(StrEnum):
    """How sure the answer for one cell is.

    ``CONFIRMED``: the slower commit is slower than the good one before it too, in a gate of the two
    ``CONTRADICTED``: in that gate it is not slower
    ``UNCONFIRMED``: that gate decided nothing
    ``OPEN``: the search for this cell is not at its end
    """

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    UNCONFIRMED = "unconfirmed"
    OPEN = "open"


class Return(msgspec.Struct, frozen=True, kw_only=True):
    """A commit that is good although it descends from a slower one: the history is not monotonic.

    Figures are against good; ``None`` for a commit that was not measured because it builds and measures the same as
    good or bad.
    """

    slower: Sha
    good: Sha
    slower_figure: Figure | None
    good_figure: Figure | None


class CellAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Where one cell became slower.

    ``suspects``: the commits one of which did it, in order; the last is known to be slower than good. A single one is
    the answer, several are what is left; ``untested``: those of them that nothing is known of yet. ``before``: the
    latest good commit in front of them. ``total``: bad against good. ``against_good``: the last suspect against good,
    ``before_against_good``: ``before`` against good, ``direct``: the last suspect against ``before``; ``None`` where
    there is no such gate.
    """

    cell: str
    state: State
    suspects: list[Sha]
    untested: list[Sha]
    before: Sha
    total: Figure
    against_good: Figure | None
    before_against_good: Figure | None
    direct: Figure | None
    returns: list[Return]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer.

    ``commits``: good first, bad last, parents before children. ``answers``: of the cells that bad has slower than
    good, worst first; none when nothing is slower. ``others``: what bad against good said of all other cells.
    ``taken_back``: commits that build and measure what good does, after others that don't: what lies before the last
    of them in front of the answer is not searched. ``exit_code``: that of the command.
    """

    asked: Asked
    commits: list[PastCommit]
    gates: list[GateTaken]
    answers: list[CellAnswer]
    others: dict[str, Figure]
    taken_back: list[Sha]
    exit_code: int
