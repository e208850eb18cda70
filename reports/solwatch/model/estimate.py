"""An estimate is a point, an interval, its level and the number of replicates, never a bare float."""

import msgspec


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A point with a two-sided interval at ``level`` from ``count`` replicates.

    ``low`` and ``high`` are ``None`` when ``count`` is too small for an interval: a missing spread is absent,
    not zero.
    """

    point: float
    low: float | None
    high: float | None
    level: float
    count: int
