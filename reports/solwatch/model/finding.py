"""What an examination of the machine finds: one finding for each thing that measuring needs."""

from dataclasses import dataclass

from solwatch.model.strings import StrEnum


class Status(StrEnum):
    """``OK``: as it must be. ``WARN``: measuring works, with less trust or later trouble. ``FAIL``: it doesn't."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at: its name, what was found, and the fix where something is wrong.

    ``found`` and ``fix`` are one line each; ``fix`` is ``None`` exactly when the status is ``OK``.
    """

    name: str
    status: Status
    found: str
    fix: str | None = None

    def __post_init__(self) -> None:
        if (self.fix is None) != (self.status is Status.OK):
            raise ValueError(f"{self.name}: status {self.status} with fix {self.fix!r}: a fix belongs to what is wrong")
