"""Packs of builds: the same build on another machine, nothing outside of its folder, nothing for anybody else."""

import hashlib
import io
import os
import stat
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.scratch_project import INPUTS, ScratchProject

from solwatch.model.config import Config
from solwatch.model.errors import RequestError
from solwatch.workspace.builds import Builder
from solwatch.workspace.git import Repository
from solwatch.workspace.pack import KEPT_PACKS, MANIFEST, PackedBuilds, write_pack

BUILD = """
import os, sys, zipfile
source, wheels = sys.argv[1:3]
with zipfile.ZipFile(os.path.join(wheels, "tinyop-1-py3-none-any.whl"), "w") as wheel:
    wheel.write(os.path.join(source, "src", "tinyop", "native.c"), "tinyop/native.c")
"""


@pytest.fixture
def packed(project: ScratchProject, tmp_path: Path) -> Path:
    """A pack of HEAD, made where there is a compiler."""
    project.commit("one")
    folder = tmp_path / "pack"
    pack(project, tmp_path, folder)
    return folder


def pack(project: ScratchProject, tmp_path: Path, folder: Path) -> None:
    repository = Repository.open(project.root)
    command = ["{python}", "-c", BUILD, "{source}", "{wheels}"]
    builder = Builder(
        repository, tmp_path / "cache", inputs=INPUTS, command=command,
        environment_globs=Config().environment, variant={"KIND": "one"},
    )  # fmt: skip
    write_pack(folder, builder, [builder.provide(repository.resolve("HEAD"))])


def reader(project: ScratchProject, folder: Path, tmp_path: Path) -> PackedBuilds:
    return PackedBuilds(Repository.open(project.root), folder, tmp_path / "packed", inputs=INPUTS)


def head(project: ScratchProject) -> Any:
    return Repository.open(project.root).resolve("HEAD")


def refused(project: ScratchProject, folder: Path, tmp_path: Path) -> str:
    with pytest.raises(RequestError) as caught:
        reader(project, folder, tmp_path).provide(head(project))
    assert "\n" not in str(caught.value)
    assert not [path for path in (tmp_path / "packed").rglob("*") if path.suffix == ".c"]
    return str(caught.value)


def test_a_build_is_the_same_where_it_is_unpacked(project: ScratchProject, packed: Path, tmp_path: Path) -> None:
    builds = reader(project, packed, tmp_path)
    assert builds.has(head(project))
    first, again = builds.provide(head(project)), builds.provide(head(project))
    assert first.path == again.path
    assert not first.built
    assert (first.path / "tinyop/native.c").read_text() == (
        tmp_path / "cache" / first.key / "tinyop/native.c"
    ).read_text()
    assert tmp_path / "cache" not in first.path.parents


def test_the_same_build_packs_to_the_same_bytes(project: ScratchProject, packed: Path, tmp_path: Path) -> None:
    pack(project, tmp_path, tmp_path / "again")
    files = sorted(path.name for path in packed.iterdir())
    assert len(files) == 2
    assert all((packed / name).read_bytes() == (tmp_path / "again" / name).read_bytes() for name in files)


def test_a_pack_made_anew_holds_nothing_of_the_old_one(project: ScratchProject, packed: Path, tmp_path: Path) -> None:
    project.answer(9)
    project.commit("two")
    (packed / "holiday.zip").write_bytes(b"somebody else's")
    pack(project, tmp_path, packed)
    assert len(list(packed.iterdir())) == 3
    assert (packed / "holiday.zip").exists()
    assert reader(project, packed, tmp_path).has(head(project))


def test_a_commit_that_was_not_packed_is_refused(project: ScratchProject, packed: Path, tmp_path: Path) -> None:
    project.answer(5)
    project.commit("two")
    assert not reader(project, packed, tmp_path).has(head(project))
    assert "has no build of HEAD" in refused(project, packed, tmp_path)


def test_two_packs_never_share_a_build(project: ScratchProject, packed: Path, tmp_path: Path) -> None:
    """Who packs a foreign library under a key of main's must not reach those who measure main."""
    honest = reader(project, packed, tmp_path).provide(head(project))
    forged = tmp_path / "forged"
    write_forged(packed, forged, {"tinyop/native.c": b"forged"})
    other = reader(project, forged, tmp_path).provide(head(project))
    assert other.key == honest.key
    assert other.path != honest.path
    assert (honest.path / "tinyop/native.c").read_bytes() != b"forged"


def test_old_packs_are_deleted(project: ScratchProject, packed: Path, tmp_path: Path) -> None:
    for number in range(KEPT_PACKS + 3):
        forged = tmp_path / f"forged-{number}"
        write_forged(packed, forged, {"tinyop/native.c": str(number).encode()})
        last = reader(project, forged, tmp_path).provide(head(project))
    assert len(list((tmp_path / "packed").iterdir())) == KEPT_PACKS
    assert last.path.is_dir()


@pytest.mark.parametrize(("at", "value"), [(6, 1), (8, 99)])
def test_an_archive_that_zip_can_not_read_is_refused(
    project: ScratchProject, packed: Path, tmp_path: Path, at: int, value: int
) -> None:
    """An encrypted entry, and one of an unknown method; the central directory has each two bytes further on."""
    write_forged(packed, tmp_path / "forged", {"x.c": b"x"})
    (path,) = (tmp_path / "forged").glob("*.zip")
    data = bytearray(path.read_bytes())
    data[at] = data[data.index(b"PK\x01\x02") + at + 2] = value
    path.write_bytes(data)
    resign(tmp_path / "forged", path)
    assert "can't be unpacked" in refused(project, tmp_path / "forged", tmp_path)


def test_broken_data_is_refused(project: ScratchProject, packed: Path, tmp_path: Path) -> None:
    (path,) = packed.glob("*.zip")
    data = bytearray(path.read_bytes())
    start = 30 + int.from_bytes(data[26:28], "little")
    data[start : start + 4] = b"\xff" * 4
    path.write_bytes(data)
    resign(packed, path)
    assert "can't be unpacked" in refused(project, packed, tmp_path)


def test_a_pipe_in_the_place_of_the_manifest_is_not_waited_for(
    project: ScratchProject, packed: Path, tmp_path: Path
) -> None:
    (packed / MANIFEST).unlink()
    os.mkfifo(packed / MANIFEST)
    assert "not a file" in refused(project, packed, tmp_path)


def resign(folder: Path, path: Path) -> None:
    """Make the manifest's digest that of ``path``."""
    manifest = msgspec.json.decode((folder / MANIFEST).read_bytes())
    manifest["builds"] = {path.stem: hashlib.sha256(path.read_bytes()).hexdigest()}
    (folder / MANIFEST).write_bytes(msgspec.json.encode(manifest))


def write_forged(packed: Path, folder: Path, files: dict[str, bytes], mode: int = stat.S_IFREG | 0o644) -> None:
    """Write a pack with other files under the same key and a digest that fits."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            archive.writestr(entry, data)
    manifest = msgspec.json.decode((packed / MANIFEST).read_bytes())
    (key,) = manifest["builds"]
    manifest["builds"] = {key: hashlib.sha256(held.getvalue()).hexdigest()}
    folder.mkdir()
    (folder / f"{key}.zip").write_bytes(held.getvalue())
    (folder / MANIFEST).write_bytes(msgspec.json.encode(manifest))


@pytest.mark.parametrize("name", ["../outside.c", "/outside.c", "a/../../outside.c", "a\\..\\outside.c"])
def test_entries_outside_of_the_folder_are_refused(
    project: ScratchProject, packed: Path, tmp_path: Path, name: str
) -> None:
    write_forged(packed, tmp_path / "forged", {name: b"x"})
    assert "outside of its folder" in refused(project, tmp_path / "forged", tmp_path)


def test_links_are_refused(project: ScratchProject, packed: Path, tmp_path: Path) -> None:
    write_forged(packed, tmp_path / "forged", {"link.c": b"/etc/passwd"}, stat.S_IFLNK | 0o777)
    assert "not a plain file" in refused(project, tmp_path / "forged", tmp_path)


def test_a_bomb_is_refused(
    project: ScratchProject, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solwatch.workspace.pack.MOST_BYTES", 1 << 20)
    write_forged(packed, tmp_path / "forged", {"large.c": b"\0" * (2 << 20)})
    assert "unpacks to more than 1 MiB" in refused(project, tmp_path / "forged", tmp_path)


def test_a_damaged_file_is_refused(project: ScratchProject, packed: Path, tmp_path: Path) -> None:
    (path,) = packed.glob("*.zip")
    path.write_bytes(path.read_bytes()[:-1])
    assert "SHA-256 differs" in refused(project, packed, tmp_path)
    path.unlink()
    assert "is missing" in refused(project, packed, tmp_path)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b'{"pack": 1}', b"\xff\xfe", b"[" * 100_000, b'{"pack":"x"}', b" " * (2 << 20)],
)
def test_what_is_no_manifest_is_refused(project: ScratchProject, packed: Path, tmp_path: Path, text: bytes) -> None:
    (packed / MANIFEST).write_bytes(text)
    assert MANIFEST in refused(project, packed, tmp_path)


def test_another_format_and_no_folder_are_refused(project: ScratchProject, packed: Path, tmp_path: Path) -> None:
    manifest = msgspec.json.decode((packed / MANIFEST).read_bytes())
    (packed / MANIFEST).write_bytes(msgspec.json.encode(manifest | {"pack": 2}))
    assert "format 2" in refused(project, packed, tmp_path)
    assert "is no folder of builds" in refused(project, tmp_path / "nowhere", tmp_path)
