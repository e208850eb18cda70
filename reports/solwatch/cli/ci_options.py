"""The options of ``solwatch ci`` and what its commands write."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import msgspec

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER_OR_ZIP = click.Path(path_type=Path)
GITHUB = click.option("--github", is_flag=True, help="In a step of GitHub Actions: hand outputs and summary to it.")


def entry_name(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Return a name, or names, that a fleet's entry may have; raises ``BadParameter``."""
    for name in [value] if isinstance(value, str) else value:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise click.BadParameter(f"{name!r}: allowed are up to 64 letters, digits, dots, hyphens and underscores")
    return value


def address(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Return an address that nothing but an address can be made of; raises ``BadParameter``."""
    if value and not re.fullmatch(r"https://[A-Za-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9._-]+)*", value):
        raise click.BadParameter(f"{value!r}: allowed is https://host/path of letters, digits, dots and hyphens")
    return value


def write_json(path: Path, document: "msgspec.Struct") -> None:
    """Replace ``path`` by ``document``, indented."""
    import msgspec

    from solwatch.workspace.files import write_atomically

    write_atomically(path, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
