"""What other jobs handed over: read within bounds, followed nowhere, written nowhere, whatever it is."""

import io
import json
import os
import stat
import zipfile
from pathlib import Path

import msgspec
import pytest
from fakes.verdicts import verdict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solwatch.model.entry_verdict import EntryVerdict
from solwatch.workspace.artifacts import MOST_BYTES, MOST_FILES, Found, found_in

GOOD = msgspec.json.encode(verdict())
NAME = "verdict.json"


def found(source: Path) -> list[Found[EntryVerdict]]:
    return found_in(source, NAME, EntryVerdict)


def problem(source: Path) -> str:
    (only,) = found(source)
    assert only.value is None
    assert len(only.problem) < 300
    assert "\n" not in only.problem + only.where
    return only.problem


def zipped(path: Path, *members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED, mode: int = 0) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            info.external_attr = mode << 16
            archive.writestr(info, content)
    return path


def test_a_folder_and_the_folders_right_below_it_are_read(tmp_path: Path) -> None:
    for place in (".", "a", "b", "b/deeper"):
        (tmp_path / place).mkdir(exist_ok=True)
        (tmp_path / place / NAME).write_bytes(GOOD)
    assert [(one.where, one.value) for one in found(tmp_path)] == [
        (where, verdict()) for where in (NAME, f"a/{NAME}", f"b/{NAME}")
    ]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_so_is_an_archive_and_other_members_are_left_alone(tmp_path: Path, method: int) -> None:
    path = zipped(
        tmp_path / "a.zip", (NAME, GOOD), ("x/" + NAME, GOOD), ("x/y/" + NAME, b"{"), ("r", b""), method=method
    )
    assert [one.value for one in found(path)] == [verdict(), verdict()]


@pytest.mark.parametrize(
    "name", [f"../{NAME}", f"/{NAME}", f"a/../../{NAME}", f"../../etc/{NAME}", f"..\\{NAME}", f"a/b/{NAME}"]
)
def test_names_that_lead_elsewhere_are_not_read_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "a.zip", (name, GOOD))
    before = sorted(tmp_path.parent.rglob("*"))
    assert found(path) == []
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / NAME).write_bytes(GOOD)
    to_file, to_folder, itself = (tmp_path / name for name in ("to_file", "to_folder", "itself"))
    to_file.mkdir()
    (to_file / NAME).symlink_to(secret / NAME)
    to_folder.mkdir()
    (to_folder / "below").symlink_to(secret)
    itself.symlink_to(secret)
    assert "is a link" in problem(to_file)
    assert found(to_folder) == []
    assert problem(itself) == "there is nothing"
    archive = zipped(tmp_path / "a.zip", (NAME, os.fsencode(secret / NAME)), mode=stat.S_IFLNK | 0o777)
    assert problem(archive) == "not an ordinary file"


def test_a_pipe_is_not_waited_for_and_a_folder_is_no_file(tmp_path: Path) -> None:
    for name, make in (("pipe", os.mkfifo), ("folder", os.mkdir)):
        (tmp_path / name).mkdir()
        make(tmp_path / name / NAME)
        assert problem(tmp_path / name) == "not an ordinary file"


def test_what_is_too_large_is_not_read_whole(tmp_path: Path) -> None:
    (tmp_path / "sparse").mkdir()
    with (tmp_path / "sparse" / NAME).open("wb") as file:
        file.truncate(1 << 40)
    assert problem(tmp_path / "sparse") == "larger than 1 MiB"
    bomb = zipped(tmp_path / "bomb.zip", (NAME, b" " * (64 << 20)))
    assert bomb.stat().st_size < MOST_BYTES
    assert problem(bomb) == "larger than 1 MiB"
    with (tmp_path / "large.zip").open("wb") as file:
        file.truncate(1 << 40)
    assert problem(tmp_path / "large.zip") == "not a file of at most 16 MiB"


def test_a_size_that_the_archive_lies_about_is_not_believed(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", (NAME, b"[" * (4 << 20)))
    size = (4 << 20).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (10).to_bytes(4, "little")))
    assert problem(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_what_is_unpacked_bit_by_bit_is_unpacked(tmp_path: Path, method: int) -> None:
    assert "can't be unpacked" in problem(zipped(tmp_path / "a.zip", (NAME, GOOD), method=method))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_one_name_twice_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", (NAME, GOOD), (NAME, GOOD))
    assert found(path)[-1].problem == f"two files named {NAME}"


def test_a_flood_of_files_is_cut(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", *((f"{index}/{NAME}", b"{") for index in range(MOST_FILES + 5)))
    assert len(found(path)) == MOST_FILES + 1
    assert found(path)[-1].problem.startswith(f"more than {MOST_FILES} files")
    for index in range(MOST_FILES + 1):
        (tmp_path / "many" / str(index)).mkdir(parents=True)
    assert problem(tmp_path / "many").startswith(f"{MOST_FILES + 1} folders")


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    assert problem(tmp_path / "absent") == "there is nothing"
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", 2), ("entry", "../x"), ("entry", "a\n"), ("code", 5), ("code", "0"), ("attempt", 10**30),
        ("run", "1; id"), ("policy", "xx"), ("counts", {"slower": -1}), ("counts", {"slower": 10**400}),
        ("counts", {"ok": 1}), ("head", {"sha": "HEAD", "tree": "x"}), ("cells", [{}]), ("gpus", "GPU-1"),
    ],
)  # fmt: skip
def test_a_field_out_of_its_domain_is_refused(tmp_path: Path, field: str, value: object) -> None:
    (tmp_path / NAME).write_text(json.dumps(json.loads(GOOD) | {field: value}))
    assert "not an EntryVerdict" in problem(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"null", b"[" * 500_000, b'{"a":' * 100_000, b"\xff\xfe", b'"\\ud800"', b"1e999", b"\0" * 10]
)
def test_what_is_no_verdict_is_told_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert "not an EntryVerdict" in problem(tmp_path)
    assert "not an EntryVerdict" in problem(zipped(tmp_path / "a.zip", (NAME, content)))


def an_archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(NAME, GOOD)
        archive.writestr(f"a/{NAME}", b" " * 5000)
    return buffer.getvalue()


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, len(an_archive()) - 1), st.integers(0, 255)), min_size=1, max_size=12),
    st.integers(0, len(an_archive())),
)
def test_any_damage_to_an_archive_is_told_or_harmless(
    tmp_path: Path, flips: list[tuple[int, int]], length: int
) -> None:
    content = bytearray(an_archive())
    for at, value in flips:
        content[at] = value
    path = tmp_path / "a.zip"
    for cut in (len(content), length):
        path.write_bytes(content[:cut])
        for one in found(path):
            assert (one.value is None) == bool(one.problem)
    assert [each.name for each in tmp_path.iterdir()] == ["a.zip"]


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes_in_place_of_json_are_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    (one,) = found(tmp_path)
    assert one.problem


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(GOOD) - 1), st.binary(max_size=4))
def test_a_damaged_verdict_is_told_or_is_one_that_can_be_written_again(tmp_path: Path, at: int, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(GOOD[:at] + content + GOOD[at + 1 :])
    (one,) = found(tmp_path)
    assert one.problem or msgspec.json.decode(msgspec.json.encode(one.value), type=EntryVerdict) == one.value
