"""What of an unpacked build and of a suite's folder is compared."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from solwatch.workspace.contents import MACHINE_CODE, OTHER, PYTHON, REQUIREMENTS, contents_of_build, contents_of_folder

METADATA = "Metadata-Version: 2.4\nName: op\nVersion: 1\nRequires-Dist: torch>=2.10\n\nWhat it is.\n"


def build(folder: Path) -> Path:
    for name, text in {
        "op/__init__.py": "x = 1\n",
        "op/table.json": "{}",
        "op/__pycache__/__init__.cpython-311.pyc": "compiled",
        "op-1.dist-info/METADATA": METADATA,
        "op-1.dist-info/RECORD": "op/__init__.py,sha256=abc,6",
        "op-1.dist-info/WHEEL": "Generator: setuptools (84)",
        "op-1.dist-info/entry_points.txt": "[x]\n",
        "solwatch-build.json": '{"commit": "1"}',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


@pytest.mark.parametrize(
    "change",
    [
        write("op/__pycache__/__init__.cpython-311.pyc", "compiled again"),
        write("op-1.dist-info/RECORD", "another"),
        write("op-1.dist-info/WHEEL", "Generator: setuptools (85)"),
        write("op-1.dist-info/METADATA", METADATA.replace("What it is", "Requires-Dist: said in prose")),
        write("op-1.dist-info/METADATA", METADATA.replace("Version: 1", "Version: 2")),
        write("solwatch-build.json", '{"commit": "2"}'),
        lambda folder: (folder / "op-1.dist-info").rename(folder / "op-2.dist-info"),
    ],
)
def test_what_says_how_it_was_made_does_not_count(tmp_path: Path, change: Callable[[Path], object]) -> None:
    before = contents_of_build(build(tmp_path), "key")
    change(tmp_path)
    assert contents_of_build(tmp_path, "key") == before


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (write("op/__init__.py", "x = 2\n"), PYTHON),
        (write("op/__init__.py", "x = 1 # a comment\n"), PYTHON),
        (write("op/more.py", ""), PYTHON),
        (write("op/table.json", "[]"), OTHER),
        (write("op/plain.pyc", "compiled, without a source"), OTHER),
        (write("op-1.dist-info/entry_points.txt", "[y]\n"), OTHER),
        (write("op-1.dist-info/METADATA", METADATA.replace("2.10", "2.11")), REQUIREMENTS),
        (write("op/code.so", "\x7fELF, hardly a library"), MACHINE_CODE),
        (lambda folder: (folder / "op/table.json").unlink(), OTHER),
    ],
)
def test_what_runs_counts(tmp_path: Path, change: Callable[[Path], object], kind: str) -> None:
    before = contents_of_build(build(tmp_path), "key")
    change(tmp_path)
    after = contents_of_build(tmp_path, "key")
    assert [name for name in after if after[name] != before[name]] == [kind]


def test_a_link_to_a_file_is_the_file_and_one_to_a_folder_is_never_the_same(tmp_path: Path) -> None:
    for side in ("one", "other"):
        suite = tmp_path / side / "suite"
        suite.mkdir(parents=True)
        (tmp_path / side / "data.txt").write_text("data")
        (suite / "linked.txt").symlink_to("../data.txt")
    one, other = tmp_path / "one", tmp_path / "other"
    assert contents_of_folder(one / "suite") == contents_of_folder(other / "suite")
    (other / "data.txt").write_text("other data")
    assert contents_of_folder(one / "suite") != contents_of_folder(other / "suite")
    shutil.copy(one / "data.txt", other / "data.txt")
    for side in (one, other):
        (side / "suite" / "folder").symlink_to("..")
    assert contents_of_folder(one / "suite") != contents_of_folder(other / "suite")
    assert contents_of_folder(one / "suite") == contents_of_folder(one / "suite")
