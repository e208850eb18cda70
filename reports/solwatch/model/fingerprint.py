"""What must be equal for two measurements to be compared."""

import msgspec

MEASURING_PROTOCOL = 2
"""Number of the way times are taken; another number means times that must not be compared."""


class Fingerprint(msgspec.Struct, frozen=True, kw_only=True):
    """The device and software a time belongs to; ``uuid`` is said, not compared.

    ``power_limit_w`` and ``ecc`` are ``None`` where the device has no such thing (a CPU).
    """

    device: str
    model: str
    driver: str | None
    vbios: str | None
    power_limit_w: float | None
    ecc: bool | None
    clock_lock: str | None
    cuda: str | None
    torch: str | None
    protocol: int
    uuid: str | None = None

    def differences(self, other: "Fingerprint") -> list[str]:
        """Return one line for each compared field that differs, ``field: self != other``."""
        return [
            f"{name}: {getattr(self, name)} != {getattr(other, name)}"
            for name in self.__struct_fields__
            if name != "uuid" and getattr(self, name) != getattr(other, name)
        ]
