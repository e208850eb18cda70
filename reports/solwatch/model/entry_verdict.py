"""What a gate said on one entry of the fleet, as it is handed from job to job: ``verdict.json``."""

from typing import Annotated, Literal

import msgspec

from solwatch.model.ci_plan import Sha
from solwatch.model.errors import ExitCode
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.verdict import CellVerdict, Verdict

MOST_CELLS = 20
"""Cells that a verdict names: a comment has no room for more, and the report has all."""

EntryName = Annotated[
    str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z", description="letters, digits, . _ and -")
]
Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
RunId = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,20}\Z", description="digits")]
Number = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
Code = Literal[0, 1, 2, 3, 4, 130]

WORDS: dict[int, str] = {
    ExitCode.OK: "pass",
    ExitCode.SLOWER: "fail",
    ExitCode.USAGE: "refused",
    ExitCode.UNTRUSTED: "infrastructure",
    ExitCode.UNDECIDED: "undecided",
    ExitCode.INTERRUPTED: "interrupted",
}
"""An exit code in one word; a broken runner is never called slower."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A commit and the hash of all that it holds."""

    sha: Sha
    tree: Sha


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The run that a reused verdict comes from."""

    run: RunId | None
    attempt: Number
    created_at: str
    machine: str | None


class EntryVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One gate's verdict; what was not reached before the gate ended is null.

    ``schema``: number of the format
    ``entry``: name of the fleet's entry
    ``code``: the gate's exit code
    ``word``: the same in a word: pass, fail, refused, infrastructure, undecided or interrupted
    ``text``: the verdict, or the error that took its place, in one line
    ``coverage``: how many cells were decided
    ``counts``: gated cells by verdict
    ``cells``: the worst cells that are not unchanged, 20 at most, with figures and evidence
    ``base``: commit and tree
    ``head``: commit and tree
    ``policy``: SHA-256 of settings, options and version by which it was judged
    ``fingerprint``: card and software that it holds for
    ``gpus``: UUIDs of the GPUs that were measured on
    ``machine``: its name
    ``solwatch``: version
    ``run``: number of the workflow's run
    ``attempt``: of that run
    ``trial``: 1 for the gate, 2 for its retry
    ``created_at``: when, in UTC
    ``reused``: the run that the verdict comes from, null where it was measured
    """

    schema: Literal[1] = 1
    entry: EntryName
    code: Code
    word: str
    text: str
    coverage: str = ""
    counts: dict[Verdict, Count] = msgspec.field(default_factory=dict)
    cells: list[CellVerdict] = msgspec.field(default_factory=list)
    base: Measured | None = None
    head: Measured | None = None
    policy: Digest | None = None
    fingerprint: Fingerprint | None = None
    gpus: list[str] = msgspec.field(default_factory=list)
    machine: str | None = None
    solwatch: str
    run: RunId | None = None
    attempt: Number = 1
    trial: Number = 1
    created_at: str
    reused: Origin | None = None

    def same_machine(self, other: "EntryVerdict") -> bool | None:
        """Return whether both were measured on one machine; a GPU's UUID says it better than a name."""
        if self.gpus and other.gpus:
            return bool({*self.gpus} & {*other.gpus})
        return None if self.machine is None or other.machine is None else self.machine == other.machine
