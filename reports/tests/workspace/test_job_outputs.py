"""A step's outputs: appended to the runner's file, never more of them than asked."""

from pathlib import Path

import pytest

from solwatch.model.errors import RequestError
from solwatch.workspace.job_outputs import write_outputs


def test_lines_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_text("earlier=1\n")
    write_outputs({"a": "x=y", "b": ""}, {"GITHUB_OUTPUT": str(path)})
    assert path.read_text() == "earlier=1\na=x=y\nb=\n"


@pytest.mark.parametrize("value", ["a\nb=c", "a\rb=c", "a\u2028b"])
def test_a_value_cannot_set_another_output(tmp_path: Path, value: str) -> None:
    path = tmp_path / "output"
    with pytest.raises(ValueError, match="'a' has several lines"):
        write_outputs({"a": value}, {"GITHUB_OUTPUT": str(path)})
    assert not path.exists()


def test_outside_a_job_and_without_the_file(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="GITHUB_OUTPUT is not set; it is for steps of a GitHub Actions job"):
        write_outputs({"a": "b"}, {})
    with pytest.raises(RequestError, match="can't be written: Is a directory"):
        write_outputs({"a": "b"}, {"GITHUB_OUTPUT": str(tmp_path)})
