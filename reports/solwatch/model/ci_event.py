"""What is read of an event of GitHub Actions; everything else in its file is left alone."""

from typing import Annotated

import msgspec

from solwatch.model.ci_plan import Sha

NO_COMMIT = "0" * 40
"""What a push names as ``before`` when it made the branch, and as ``after`` when it deleted it."""

Ref = Annotated[str, msgspec.Meta(max_length=255)]


class Tip(msgspec.Struct, frozen=True):
    """The end of a branch."""

    sha: Sha


class PullRequest(msgspec.Struct, frozen=True):
    """The two branches of a pull request."""

    base: Tip
    head: Tip


class MergeGroup(msgspec.Struct, frozen=True):
    """What a merge queue is about to merge, and onto what."""

    base_sha: Sha
    head_sha: Sha


class Inputs(msgspec.Struct, frozen=True):
    """What a person typed into a dispatch; empty for nothing."""

    base: Ref | None = None
    head: Ref | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event's file: each kind of event has one of these parts."""

    before: Sha | None = None
    after: Sha | None = None
    pull_request: PullRequest | None = None
    merge_group: MergeGroup | None = None
    inputs: Inputs | None = None
