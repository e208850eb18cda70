"""What each side's processes say of device and software, compared before any of their times is."""

from collections.abc import Mapping

from solwatch.model.errors import MachineError
from solwatch.model.fingerprint import Fingerprint

ENVIRONMENT_FIELDS = frozenset({"torch", "cuda"})
"""What two environments may differ in: it is what comparing them is about."""


class Fingerprints:
    """The fingerprints of the sides of one measurement, each as its first process told it."""

    def __init__(self, subject: frozenset[str] = frozenset()) -> None:
        """Start without any; ``subject``: the fields in which the sides may differ."""
        self._subject = subject
        self._known: dict[str, Fingerprint] = {}

    def of(self, side: str) -> Fingerprint | None:
        """Return the fingerprint of ``side``, ``None`` before a process of its has opened the device."""
        return self._known.get(side)

    def check(self, side: str, found: Fingerprint) -> None:
        """Compare what a new process of ``side`` says with all before; raises ``MachineError`` for a difference."""
        changed = self._known.setdefault(side, found).differences(found)
        if changed:
            raise MachineError(
                f"{side}'s device or software changed while measuring ({'; '.join(changed)}): such times are not "
                "compared; keep the machine as it is and measure again"
            )
        for other, known in list(self._known.items()):  # two processes may open at once
            require_comparable(known, found, names=(other, side), subject=self._subject)


def require_alike(gpus: Mapping[str, Fingerprint]) -> None:
    """Raise ``MachineError`` when GPUs that rounds are to be spread over differ; ``gpus`` maps a name to each."""
    first = next(iter(gpus), "")
    for name, found in gpus.items():
        lines = gpus[first].differences(found)
        if lines:
            raise MachineError(
                f"{first} and {name} are not alike ({'; '.join(lines)}): rounds are spread over GPUs of one kind only; "
                "name those with --gpus, or measure on one with --device cuda:<index>"
            )


def require_comparable(
    one: Fingerprint, two: Fingerprint, *, names: tuple[str, str], subject: frozenset[str] = frozenset()
) -> None:
    """Raise ``MachineError`` when the fingerprints differ in more than ``subject``."""
    lines = [line for line in one.differences(two) if line.partition(":")[0] not in subject]
    if lines:
        installed = all(line.partition(":")[0] in ENVIRONMENT_FIELDS for line in lines)
        advice = "--base-env and --head-env compare two of them" if installed else "measure both on one machine"
        raise MachineError(
            f"{names[0]} and {names[1]} were measured on different devices or software ({'; '.join(lines)}): "
            f"such times are not compared; {advice}"
        )
