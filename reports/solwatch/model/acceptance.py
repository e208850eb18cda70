"""Slowdowns that were accepted: how large, by whom, until when, and why."""

from collections.abc import Collection
from datetime import date
from fnmatch import fnmatchcase
from typing import Annotated

import msgspec

MOST_DAYS = 730
"""An acceptance lasts for two years at most: what stays for longer is what the next reference has."""

Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
# Matched in one pass whatever the text: the first class ends where the second begins.
Line = Annotated[
    str,
    msgspec.Meta(pattern=r"^\s*[^\x00\s][^\x00]*$", max_length=500, description="text of 1 to 500 characters, no NUL"),
]
Sha = Annotated[
    str, msgspec.Meta(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?\Z", description="the full hash of a commit, in text")
]


class Acceptance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One ``[[accepted]]`` table.

    ``cell``: the cell's key, or a glob that several answer to
    ``max``: the slowdown that is accepted, as a fraction; a larger one fails
    ``reason``: why, for whoever reviews it
    ``owner``: who answers for it
    ``commit``: HEAD when it was first written; with `cell` it tells one acceptance from another, however it is edited
    ``created``: the day on which it was written or renewed
    ``expires``: the last day on which it holds everywhere, at most 730 days after `created`
    """

    cell: Line
    max: Share
    reason: Line
    owner: Line
    commit: Sha
    created: date
    expires: date

    @property
    def identity(self) -> tuple[str, str]:
        """What stays when an entry is edited: a later date must not make an old slowdown a new one."""
        return self.cell, self.commit

    def covers(self, key: str, keys: Collection[str]) -> bool:
        """Return whether the cell ``key``, one of ``keys``, answers to the entry: by its name, else as a glob.

        Names may hold brackets and stars: an entry that is the name of a cell is about that cell alone.
        """
        return key == self.cell or (fnmatchcase(key, self.cell) and self.cell not in keys)

    def expired(self, today: date) -> bool:
        """Return whether it no longer holds everywhere on ``today``."""
        return today > self.expires
