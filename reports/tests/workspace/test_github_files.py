"""Outputs and summaries of a step: appended, one line a value, and refused outside of a step."""

from pathlib import Path

import pytest

from solwatch.model.errors import RequestError
from solwatch.workspace.github_files import append_summary, set_outputs, summary_bytes


def test_outputs_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_text("earlier=1\n")
    set_outputs({"GITHUB_OUTPUT": str(path)}, {"needed": "true", "reason": "2 files"})
    assert path.read_text() == "earlier=1\nneeded=true\nreason=2 files\n"


@pytest.mark.parametrize("value", ["a\nb=c", "a\r\nb", "a\n", "a\u2028b"])
def test_a_value_can_not_add_another_output(tmp_path: Path, value: str) -> None:
    path = tmp_path / "output"
    with pytest.raises(RequestError, match="has several lines"):
        set_outputs({"GITHUB_OUTPUT": str(path)}, {"base": "ok", "reason": value})
    assert not path.exists()


def test_a_summary_grows(tmp_path: Path) -> None:
    environment = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    assert summary_bytes(environment) == 0
    append_summary(environment, "µ\n")
    append_summary(environment, "b\n")
    assert summary_bytes(environment) == 5
    assert (tmp_path / "summary").read_text() == "µ\nb\n"


@pytest.mark.parametrize("environment", [{}, {"GITHUB_STEP_SUMMARY": "", "GITHUB_OUTPUT": ""}])
def test_outside_of_a_step_both_are_refused(environment: dict[str, str]) -> None:
    with pytest.raises(RequestError, match=r"\$GITHUB_OUTPUT is not set"):
        set_outputs(environment, {"a": "b"})
    with pytest.raises(RequestError, match=r"\$GITHUB_STEP_SUMMARY is not set"):
        summary_bytes(environment)
    with pytest.raises(RequestError, match=r"\$GITHUB_STEP_SUMMARY is not set"):
        append_summary(environment, "a")
