"""What head and base were compared in before measuring, and the cells that were left unmeasured because of it."""

import msgspec


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Whether both sides are the same in everything that runs.

    ``same``: what was compared and is the same on both sides, by name, with its SHA-256. ``differences``: what is
    not, one line each. ``unmeasured``: cells that need no time because nothing that they run has changed, with the
    digest of what they compiled or tuned, ``None`` for nothing; empty where there is a difference. ``sample``: cells
    that could have been left out and are measured all the same.
    """

    same: dict[str, str]
    differences: list[str] = msgspec.field(default_factory=list)
    unmeasured: dict[str, str | None] = msgspec.field(default_factory=dict)
    sample: list[str] = msgspec.field(default_factory=list)
