"""What of a library counts: its code, not what the compiler and the linker wrote down about it."""

import subprocess
from pathlib import Path

import pytest

from solwatch.workspace.machine_code import machine_code_digest

KEY = "5eed" * 10
SOURCE = """
extern "C" int answer(int x) { return x * %s; }
extern "C" const char *place() { return __FILE__; }
static int hidden(int x) { return x ^ 3; }
extern "C" int uses(int x) { return hidden(x) + hidden(x + 1); }
"""


def library(folder: Path, *options: str, number: int = 7, key: str = KEY, source: str = SOURCE) -> bytes:
    home = folder / key / f"{number}"
    home.mkdir(parents=True, exist_ok=True)
    (home / "code.cpp").write_text(source.replace("%s", str(number)))
    built = home / "library.so"
    command = ["g++", "-shared", "-fPIC", "-O1", *options, str(home / "code.cpp"), "-o", str(built)]
    subprocess.run(command, check=True)
    return built.read_bytes()


@pytest.mark.parametrize(
    "option", ["-Wl,--build-id=0xabcdef0123456789abcdef0123456789abcdef01", "-g", "-Wl,--strip-all"]
)
def test_what_only_tools_read_does_not_count(tmp_path: Path, option: str) -> None:
    plain = library(tmp_path, "-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567")
    other = library(tmp_path, "-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567", option)
    assert other != plain
    assert machine_code_digest(other, KEY) == machine_code_digest(plain, KEY)


def test_the_build_s_own_folder_does_not_count_and_any_other_does(tmp_path: Path) -> None:
    other_key = "c0de" * 10
    plain, elsewhere = library(tmp_path), library(tmp_path, key=other_key)
    assert KEY.encode() in plain
    assert machine_code_digest(plain, KEY) == machine_code_digest(elsewhere, other_key)
    assert machine_code_digest(plain, KEY) != machine_code_digest(elsewhere, KEY)


def test_a_changed_constant_counts(tmp_path: Path) -> None:
    build = library(tmp_path, number=7), library(tmp_path, number=9)
    named_alike = build[1].replace(f"{KEY}/9".encode(), f"{KEY}/7".encode())
    assert machine_code_digest(build[0], KEY) != machine_code_digest(named_alike, KEY)


def test_one_byte_of_code_counts(tmp_path: Path) -> None:
    plain = library(tmp_path)
    at = plain.index(b"\x83\xf0\x03")  # xor eax, 3
    flipped = plain[: at + 2] + b"\x05" + plain[at + 3 :]
    assert machine_code_digest(flipped, KEY) != machine_code_digest(plain, KEY)


def test_another_exported_name_counts(tmp_path: Path) -> None:
    renamed = library(tmp_path, source=SOURCE.replace("int uses", "int user"))
    assert machine_code_digest(renamed, KEY) != machine_code_digest(library(tmp_path), KEY)


def kernel(one: str, length: int, other: str, code: str = "mov") -> str:
    """Return a library's source that holds what nvcc would: a name local to a file, and code in a section."""
    name = f"_ZN2op48_GLOBAL__N__{one}_{length}_simt_float32_cu_{other}4tileEv"
    return SOURCE + f'extern "C" const char fatbin[] __attribute__((section(".nv_fatbin"), used)) = "{name} {code}";\n'


def test_a_kernel_s_code_counts_and_what_nvcc_names_it_after_does_not(tmp_path: Path) -> None:
    plain = library(tmp_path, source=kernel("7f188b93", 15, "b0a8a009"))
    moved = library(tmp_path, source=kernel("27a99748", 15, "b0a8a009"))
    changed = library(tmp_path, source=kernel("7f188b93", 15, "b0a8a009", code="add"))
    assert plain != moved
    assert machine_code_digest(plain, KEY) == machine_code_digest(moved, KEY)
    assert machine_code_digest(plain, KEY) != machine_code_digest(changed, KEY)


def test_a_name_that_only_looks_like_nvcc_s_counts(tmp_path: Path) -> None:
    one, other = (library(tmp_path, source=kernel(start, 16, "b0a8a009")) for start in ("7f188b93", "27a99748"))
    assert machine_code_digest(one, KEY) != machine_code_digest(other, KEY)


@pytest.mark.parametrize("cut", [4, 20, 60, 3000])
def test_what_is_no_whole_library_counts_byte_by_byte(tmp_path: Path, cut: int) -> None:
    torn = library(tmp_path)[:cut]
    assert machine_code_digest(torn, KEY) == machine_code_digest(torn, KEY)
    assert machine_code_digest(torn, KEY) != machine_code_digest(torn + b"\0", KEY)


def test_an_object_file_counts_byte_by_byte(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("int a;")
    subprocess.run(["g++", "-c", str(tmp_path / "a.cpp"), "-o", str(tmp_path / "a.o")], check=True)
    content = (tmp_path / "a.o").read_bytes()
    assert machine_code_digest(content + b"\0", KEY) != machine_code_digest(content, KEY)
