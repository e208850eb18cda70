"""Corpus files: what is written comes back, what is torn is dropped, what is something else is left alone."""

import errno
import os
from pathlib import Path

import msgspec
import pytest
from fakes.corpora import corpus, write
from fakes.records import FakeCell

from solwatch.model.errors import MachineError, RequestError
from solwatch.workspace.corpus import CORPUS_SCHEMA, CorpusWriter, begun_corpus, read_corpus

MADE = corpus([FakeCell(key="b.C(1)"), FakeCell(key="b.C(2)", base_s=5e-6)], rounds=3)
HEADER, FIRST, *_ = [msgspec.json.encode(part) + b"\n" for part in (MADE.header, *MADE.rounds)]


def test_what_is_written_reads_back_as_it_was(tmp_path: Path) -> None:
    assert read_corpus(write(tmp_path / "new" / "a.jsonl", MADE)) == MADE


def test_a_torn_last_line_is_dropped_and_cut_off_before_the_next_round(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", MADE)
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert read_corpus(path).rounds == MADE.rounds[:2]
    with CorpusWriter.resume(path) as writer:
        writer.append(MADE.rounds[2])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("content", [None, b"", HEADER[:40]])
def test_a_file_whose_header_never_was_complete_has_yet_to_begin(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert begun_corpus(path) is None
    assert read_corpus(write(path, MADE)) == MADE


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"my notes", "no complete first line"),
        (b"my notes\n", "line 1: not a JSON object"),
        (b'{"schema": 1}\n', "line 1: not a solwatch corpus, it has no corpus number"),
        (HEADER.replace(b'{"corpus":1', b'{"corpus":99'), f"corpus format 99, this solwatch reads {CORPUS_SCHEMA}"),
        (b'{"corpus": 1}\n', "line 1: not a CorpusHeader"),
        (b'{"corpus": [1]}\n', "line 1: not a solwatch corpus, it has no corpus number"),
        (HEADER + b'{"more": ' + b"[" * 100_000 + b"\n", r"line 2: not a CorpusRound \(maximum recursion"),
        (HEADER + b"{half\n" + FIRST, "line 2: not a CorpusRound"),
        (HEADER + FIRST.replace(b'"index":0', b'"index":"x"'), r"line 2: not a CorpusRound .*\$.index"),
    ],
)
def test_anything_else_is_one_line_and_left_alone(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(RequestError, match=message) as raised:
        begun_corpus(path)
    assert "\n" not in str(raised.value)
    assert path.read_bytes() == content


def test_a_full_disk_keeps_what_was_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.jsonl", msgspec.structs.replace(MADE, rounds=MADE.rounds[:1]))

    def full(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with CorpusWriter.resume(path) as writer:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(MachineError, match=f"no space left for {path}"):
            writer.append(MADE.rounds[1])
    assert read_corpus(path).rounds == MADE.rounds[:1]
