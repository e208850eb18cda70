import errno
import os
from pathlib import Path

import msgspec
import pytest

from solwatch.model.cell import CellInfo, Work
from solwatch.model.config import Config
from solwatch.model.errors import MachineError, RequestError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Block, Ceilings, CellRound, Commit, RecordEnd, RecordHeader, Round, Side
from solwatch.model.why import Why
from solwatch.workspace.records import SCHEMA, RecordWriter, add_why, read_record

COMMIT = Commit(sha="a" * 40, name="HEAD", subject="make it <faster>", committed_at="2026-01-01T00:00:00+00:00")


def header() -> RecordHeader:
    return RecordHeader(
        schema=SCHEMA,
        solwatch="0.1.0",
        command="solwatch gate main HEAD",
        created_at="2026-01-01T00:00:00Z",
        machine="runner",
        seed=7,
        head=COMMIT,
        base=None,
        config=Config(),
        fingerprint=Fingerprint(
            device="cpu", model="x", driver=None, vbios=None, power_limit_w=None, ecc=None, clock_lock=None,
            cuda=None, torch="2.13.0", protocol=1,
        ),
        ceilings=Ceilings(),
        cells=[CellInfo(key="b.C(1)", benchmark="b.C", params=["1"], param_names=["n"], kind="suite")],
        work={"b.C(1)": Work(flops=1.0, traffic_bytes=2.0, dtype="float32")},
    )  # fmt: skip


def round_of(index: int) -> Round:
    block = Block(samples_s=[1e-5, 1.1e-5], null_s=[], number=1, timer="wall")
    cell = CellRound(key="b.C(1)", head=Side(blocks=[block]))
    return Round(index=index, head_slot=index % 2, started_at="2026-01-01T00:00:01Z", wall_s=0.5, cells=[cell])


END = RecordEnd(stopped="decided", wall_s=1.5)


def test_a_finished_record_reads_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "records" / "one.jsonl"
    with RecordWriter.create(path, header()) as writer:
        assert writer.path == path
        for index in range(3):
            writer.append(round_of(index))
        writer.finish(END)
    record = read_record(path)
    assert (record.header, record.rounds, record.end) == (header(), [round_of(i) for i in range(3)], END)


def test_what_explains_the_verdicts_follows_the_end_once(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    with RecordWriter.create(path, header()) as writer:
        writer.append(round_of(0))
        writer.finish(END)
    assert read_record(path).why is None
    why = Why(capability=(9, 0), notes=["no cuobjdump"])
    add_why(path, why)
    assert (read_record(path).end, read_record(path).why) == (END, why)
    path.write_bytes(path.read_bytes()[:-1])
    assert read_record(path).why is None
    path.write_bytes(path.read_bytes() + b"\n")
    add_why(path, why)
    with pytest.raises(RequestError, match="line 5: nothing may follow the end of a record but why"):
        read_record(path)


def test_an_interrupted_record_keeps_its_completed_rounds(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    with RecordWriter.create(path, header()) as writer:
        writer.append(round_of(0))
        assert read_record(path).rounds == [round_of(0)]
        writer.append(round_of(1))
    whole = path.read_bytes()
    for cut in range(len(whole) - 1, len(whole) - 40, -1):
        path.write_bytes(whole[:cut])
        record = read_record(path)
        assert record.rounds == [round_of(0)]
        assert record.end is None


def test_a_full_disk_keeps_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "one.jsonl"

    def full(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with RecordWriter.create(path, header()) as writer:
        writer.append(round_of(0))
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(MachineError, match=f"no space left for {path}"):
            writer.append(round_of(1))
    assert read_record(path).rounds == [round_of(0)]


def lines_of(*parts: object) -> bytes:
    return b"".join(part + b"\n" if isinstance(part, bytes) else msgspec.json.encode(part) + b"\n" for part in parts)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it has no complete first line"),
        (b"not json\n", "line 1: not a JSON object"),
        (b"[1]\n", "line 1: not a JSON object"),
        (b'{"a": 1}\n', "line 1: not a solwatch record, it has no schema number"),
        (
            lines_of(msgspec.structs.replace(header(), schema=99)),
            f"line 1: record schema 99, this solwatch reads {SCHEMA}",
        ),
        (b'{"schema": "' + b"x" * 10000 + b'"}\n', "line 1: not a solwatch record, it has no schema number"),
        (b'{"schema": 1, "a": ' + b"[" * 100_000 + b"\n", r"line 1: not a JSON object \(maximum recursion"),
        (lines_of(header(), b'{"cells": ' + b"[" * 100_000), r"line 2: not a JSON object \(maximum recursion"),
        (b'{"schema": "\xff"}\n', "line 1: not a JSON object .*UTF-8"),
        (lines_of({"schema": SCHEMA}), "line 1: not a RecordHeader .*missing required field"),
        (lines_of(header(), b"{half", round_of(1)), "line 2: not a JSON object"),
        (lines_of(header(), round_of(0), {"index": "x"}), r"line 3: not a Round .*\$.index"),
        (lines_of(header(), {"stopped": 3}), "line 2: not a RecordEnd"),
        (lines_of(header(), END, round_of(0)), "line 3: nothing may follow the end"),
    ],
)
def test_a_malformed_record_is_one_line_with_its_number(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(content)
    with pytest.raises(RequestError, match=message) as raised:
        read_record(path)
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)


def test_what_is_no_file_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RequestError, match=r"can't be read: No such file"):
        read_record(tmp_path / "none.jsonl")
    with pytest.raises(RequestError, match=r"can't be read: Is a directory"):
        read_record(tmp_path)
    monkeypatch.setattr("solwatch.workspace.files.MOST_BYTES", 1 << 24)
    with pytest.raises(RequestError, match=r"/dev/zero has more than 16 MiB"):
        read_record(Path("/dev/zero"))
