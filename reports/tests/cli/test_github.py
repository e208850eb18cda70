"""--github: a step's summary and annotations, from a record that is there already."""

from pathlib import Path

import pytest
from fakes.records import FakeCell, record

from solwatch.cli.main import outcome
from solwatch.render.summary import SUMMARY_BYTES
from solwatch.workspace.records import RecordWriter


@pytest.fixture
def slower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the command that reports a record with one slower cell."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    taken = record([FakeCell(key="o_proj.OProj(1)", ratio=1.2), FakeCell(key="o_proj.OProj(16)")])
    with RecordWriter.create(tmp_path / "record.jsonl", taken.header) as writer:
        for completed in taken.rounds:
            writer.append(completed)
    return ["report", str(tmp_path / "record.jsonl"), "--output", str(tmp_path / "report"), "--github"]


def test_the_summary_is_added_and_annotations_come_first(
    slower: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "summary.md").write_text("of an earlier command\n")
    assert outcome(slower) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("::error title=solwatch%3A slower on NVIDIA H200::o_proj.OProj(1): slower")
    written = (tmp_path / "report" / "summary.md").read_text()
    assert (tmp_path / "summary.md").read_text() == "of an earlier command\n" + written
    assert (tmp_path / "report" / "annotations.txt").read_text().splitlines() == shown.splitlines()[:1]


def test_a_summary_that_is_full_is_left_alone(
    slower: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "summary.md").write_bytes(b"x" * (SUMMARY_BYTES - 100))
    assert outcome(slower) == 1
    assert (tmp_path / "summary.md").stat().st_size == SUMMARY_BYTES - 100
    assert "the step's summary is full" in capsys.readouterr().err


def test_outside_of_a_step_it_is_refused_before_anything_is_written(
    slower: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert outcome(slower) == 2
    assert "$GITHUB_STEP_SUMMARY is not set" in capsys.readouterr().err
    assert not (tmp_path / "report").exists()
    assert outcome(slower[:-1]) == 1


def test_without_it_nothing_is_added(slower: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(slower[:-1]) == 1
    assert "::" not in capsys.readouterr().out
    assert not (tmp_path / "summary.md").exists()
