"""The name and description that asv knows this machine by."""

import json
import os
import re
from pathlib import Path

from asv.machine import Machine

from solwatch.model.errors import MachineError, RequestError

NAME = "SOLWATCH_MACHINE"
"""Variable with the name that results go under: that of the fleet's entry where each job has a machine of its own."""


def machine_info() -> dict[str, str]:
    """Return what asv stores about this machine, making ``~/.asv-machine.json`` when this machine isn't in it.

    ``machine`` in it is the name; the rest is what ``asv machine --yes`` would find. With ``$SOLWATCH_MACHINE`` that
    is the name and no file is read or made. Raises ``MachineError`` when the file is there but isn't asv's, or can't
    be written, ``RequestError`` when the variable is no name of a folder.
    """
    given = os.environ.get(NAME)
    if given:
        return {key: str(value) for key, value in Machine.get_defaults().items()} | {"machine": _checked(given)}
    path = _path()
    known = _read(path)
    name = Machine.get_unique_machine_name()
    entry = _entry(known, name)
    if entry is not None:
        return entry
    info = {key: str(value) for key, value in Machine.get_defaults().items()}
    _replace(path, json.dumps(known | {name: info, "version": 1}, indent=4, sort_keys=True))
    return info


def known_machine() -> str | None:
    """Return asv's name for this machine, ``None`` when asv has not been told about it; raises as above."""
    entry = _entry(_read(_path()), Machine.get_unique_machine_name())
    return entry["machine"] if entry else None


def _checked(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise RequestError(f"{NAME}={name!r}: allowed are up to 64 letters, digits, dots, hyphens and underscores")
    return name


def _path() -> Path:
    return Path(os.path.expanduser("~/.asv-machine.json"))


def _entry(known: dict[str, dict[str, str]], name: str) -> dict[str, str] | None:
    if len(known) == 1:  # asv's own rule: a file about one machine is about this one, whatever it is called
        return next(iter(known.values()))
    return known.get(name)


def _read(path: Path) -> dict[str, dict[str, str]]:
    if not path.exists():
        return {}
    repair = "repair it, or move it away and a new one is made"
    try:
        known = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise MachineError(f"{path} can't be read as JSON ({error}): {repair}") from error
    if not isinstance(known, dict):
        raise MachineError(f"{path} is not a list of machines: {repair}")
    known.pop("version", None)
    if not all(isinstance(info, dict) and isinstance(info.get("machine"), str) for info in known.values()):
        raise MachineError(f"{path} has an entry without a machine's name: {repair}")
    return known


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise MachineError(f"{path}, which asv needs, can't be written ({error.strerror}): set HOME") from error
