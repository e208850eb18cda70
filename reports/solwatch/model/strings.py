"""``StrEnum`` for Python 3.10, which lacks it."""

import sys

if sys.version_info >= (3, 11):
    from enum import StrEnum
else:
    from enum import Enum

    class StrEnum(str, Enum):
        """Members are strings and print as their values."""

        __str__ = str.__str__


__all__ = ["StrEnum"]
