"""What all entries of the fleet say of one commit together: ``joint.json``."""

from typing import Literal

import msgspec

from solwatch.model.ci_plan import Plan
from solwatch.model.entry_verdict import Code, EntryName, EntryVerdict

BuildResult = Literal["success", "head", "base", "refused", "failure", "cancelled", "skipped"]
"""How the build ended: GitHub's word for the job, the side that does not build, or that it was asked for wrongly."""

JobResult = Literal["success", "failure", "cancelled", "skipped"]
"""GitHub's word for a job, of all its matrix together; a time limit cancels, a lost runner is a failure."""


class EntryResult(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the fleet.

    ``entry``: its name
    ``code``: its exit code
    ``verdict``: the one that counts, null where none arrived that can be read
    ``problem``: why there is none
    ``retried``: exit codes of earlier trials that it replaces
    ``same_machine``: whether the retry ran on the machine of the trial before, null where that is not known
    """

    entry: EntryName
    code: Code
    verdict: EntryVerdict | None = None
    problem: str = ""
    retried: list[Code] = msgspec.field(default_factory=list)
    same_machine: bool | None = None


class JointVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The final verdict.

    ``schema``: number of the format
    ``code``: the final exit code
    ``word``: the same in a word
    ``text``: why, in one line
    ``plan``: what was to be compared, null where it was not given
    ``build``: how the build ended: success, head or base (which does not build), refused, failure, cancelled or skipped
    ``entries``: the fleet's entries, worst first
    ``problems``: what else could not be trusted
    """

    schema: Literal[1] = 1
    code: Code
    word: str
    text: str
    plan: Plan | None = None
    build: BuildResult = "success"
    entries: list[EntryResult] = msgspec.field(default_factory=list)
    problems: list[str] = msgspec.field(default_factory=list)
