"""The reference that creep is measured against."""

import msgspec

LAST_RELEASE = "last-release"
BEST = "best"


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """Why a gate's base is what it is: ``setting`` as configured, ``commit`` by name, ``why`` in words."""

    setting: str
    commit: str
    why: str
