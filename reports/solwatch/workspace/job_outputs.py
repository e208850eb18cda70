"""What a step of a GitHub Actions job hands to later ones: lines of the file that the runner names."""

from collections.abc import Mapping
from pathlib import Path

from solwatch.model.errors import RequestError
from solwatch.workspace.files import disk_errors

OUTPUT_VARIABLE = "GITHUB_OUTPUT"


def write_outputs(outputs: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Append ``name=value`` for each of ``outputs`` to the file that ``environment`` names; values have one line.

    Raises ``RequestError`` outside a job.
    """
    named = environment.get(OUTPUT_VARIABLE)
    if not named:
        raise RequestError(f"--github-output: {OUTPUT_VARIABLE} is not set; it is for steps of a GitHub Actions job")
    for name, value in outputs.items():
        if len(value.splitlines()) > 1:
            raise ValueError(f"output {name!r} has several lines: they would set other outputs")
    path = Path(named)
    with disk_errors(path), path.open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in outputs.items())
