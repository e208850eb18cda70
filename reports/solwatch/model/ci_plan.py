"""What a pipeline is about to compare, and whether there is anything to measure."""

from typing import Annotated, Literal

import msgspec

Sha = Annotated[
    str, msgspec.Meta(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})\Z", description="a commit's or a tree's hash")
]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What an event asks for.

    ``schema``: number of the format
    ``event``: name of the event, `command line` without one, `reference` against the pinned reference
    ``base``: hash of the commit to compare with, null where there is none
    ``head``: hash of the commit to measure, null where a branch was deleted
    ``needed``: whether anything that can change a time has changed
    ``reason``: why, or why not, in words of solwatch's own
    """

    schema: Literal[1] = 1
    event: str
    base: Sha | None
    head: Sha | None
    needed: bool
    reason: str
