import errno
import os
from pathlib import Path

import pytest

from solwatch.model.errors import ExitCode, MachineError, RequestError
from solwatch.workspace.files import LineWriter, read_lines, write_atomically


def full_disk(*arguments: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_replaces_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file"
    write_atomically(path, b"old and longer")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["file"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(MachineError, match=f"no space left for {path}") as raised:
        write_atomically(path, b"new")
    assert "\n" not in str(raised.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_read_only_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*arguments: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "replace", read_only)
    with pytest.raises(MachineError, match=r"can't be written.*make its folder writable"):
        write_atomically(tmp_path / "file", b"new")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("path", ["taken/file", "dangling/file", "loop/file", "n" * 300])
def test_a_path_that_can_never_be_written_is_the_request_s_fault(tmp_path: Path, path: str) -> None:
    (tmp_path / "taken").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(
        RequestError, match=r"can't be written: .*; name another path, or move away what lies"
    ) as raised:
        write_atomically(tmp_path / path, b"new")
    assert raised.value.exit_code is ExitCode.USAGE


def test_lines_are_on_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    with LineWriter(path, fresh=True) as writer:
        writer.append(b"one")
        assert path.read_bytes() == b"one\n"
        writer.append(b"two")
    assert read_lines(path) == [b"one", b"two"]
    with LineWriter(path, fresh=False) as writer:
        writer.append(b"three")
    assert read_lines(path) == [b"one", b"two", b"three"]


def test_a_fresh_file_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("precious\n")
    with pytest.raises(MachineError, match="exists already and is not overwritten"):
        LineWriter(path, fresh=True)
    assert path.read_text() == "precious\n"


def test_a_line_that_did_not_fit_is_cut_off_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines"
    real = os.write
    with LineWriter(path, fresh=True) as writer:
        writer.append(b"kept")
        room = [5]

        def nearly_full(handle: int, data: bytes) -> int:
            if room[0] == 0:
                full_disk()
            written = real(handle, bytes(data)[: room[0]])
            room[0] -= written
            return written

        monkeypatch.setattr(os, "write", nearly_full)
        with pytest.raises(MachineError, match="no space left"):
            writer.append(b"longer than five")
        monkeypatch.setattr(os, "write", real)
        assert path.read_bytes() == b"kept\n"
        writer.append(b"after space was made")
    assert read_lines(path) == [b"kept", b"after space was made"]


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"whole\nto")
    assert read_lines(path) == [b"whole"]
    path.write_bytes(b"")
    assert read_lines(path) == []
