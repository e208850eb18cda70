"""Which record a report is of, where runs were killed or the clock stepped back."""

from pathlib import Path

import pytest
from fakes.records import FakeCell, record

from solwatch.app.gate import record_path
from solwatch.app.reporting import newest_record, reported
from solwatch.model.errors import NothingMeasuredError, RequestError
from solwatch.model.record import Record
from solwatch.workspace.records import RecordWriter

TAKEN = record([FakeCell(key="a")], rounds=3, stopped=None)


def kept(folder: Path, taken: Record = TAKEN) -> Path:
    with RecordWriter.create(record_path(folder, taken.header), taken.header) as writer:
        for completed in taken.rounds:
            writer.append(completed)
    return writer.path


def test_a_time_that_comes_twice_gets_another_name_and_nothing_is_overwritten(tmp_path: Path) -> None:
    paths = [kept(tmp_path) for _ in range(3)]
    assert [path.name.removeprefix("20260304T050000-9a7e5eed-4be1c0ff") for path in paths] == [
        ".jsonl",
        "-2.jsonl",
        "-3.jsonl",
    ]
    assert newest_record(tmp_path) == paths[-1]


def test_half_a_record_at_any_place_is_what_it_holds_or_one_line(tmp_path: Path) -> None:
    path = kept(tmp_path)
    whole = path.read_bytes()
    held: list[int] = []
    said: list[str] = []
    for cut in [*range(0, len(whole), len(whole) // 60), len(whole)]:
        path.write_bytes(whole[:cut])
        try:
            held.append(len(reported(path, tmp_path / "report").record.rounds))
        except (RequestError, NothingMeasuredError) as error:
            said.append(str(error))
            held.append(0)
    assert held == sorted(held)
    assert set(held) == {0, 1, 2, 3}
    assert not any("\n" in line for line in said)


def test_a_run_that_was_killed_before_its_first_round_does_not_hide_the_one_before(tmp_path: Path) -> None:
    path = kept(tmp_path)
    newer = path.with_name("20270101T000000-a-b.jsonl")
    whole = path.read_bytes()
    for content in (b"", whole[:40], whole[: whole.index(b"\n") + 1]):
        newer.write_bytes(content)
        assert newest_record(tmp_path) == path
    newer.write_bytes(b"{\n")
    with pytest.raises(RequestError, match="line 1: not a JSON object"):
        newest_record(tmp_path)


def test_a_page_that_can_not_be_written_is_one_line(tmp_path: Path) -> None:
    path = kept(tmp_path)
    (tmp_path / "report").write_text("a file in the folder's place")
    with pytest.raises(RequestError, match="can't be written") as raised:
        reported(path, tmp_path / "report")
    assert "\n" not in str(raised.value)
