"""The file of accepted slowdowns: what it may say, and that a program leaves the rest of it alone."""

import os
from datetime import date
from pathlib import Path

import msgspec
import pytest

from solwatch.model.acceptance import Acceptance
from solwatch.model.errors import ExitCode, RequestError
from solwatch.workspace.acceptances import FILE, MOST_BYTES, parse_acceptances, read_acceptances, write_acceptance

TODAY = date(2026, 11, 30)
SHA = "0123456789abcdef" * 2 + "01234567"
ENTRY = Acceptance(
    cell="o_proj.OProj(16, 'llama')",
    max=0.03,
    reason="exact rounding",
    owner="Ada",
    commit=SHA,
    created=TODAY,
    expires=date(2027, 2, 28),
)
TEXT = f"""\
[[accepted]]
cell = "o_proj.OProj(16, 'llama')"
max = 0.03
reason = "exact rounding"
owner = "Ada"
commit = "{SHA}"
created = 2026-11-30
expires = 2027-02-28
"""


def parsed(text: str) -> list[Acceptance]:
    return parse_acceptances(text.encode(), FILE, TODAY)


def test_an_entry_is_read_as_it_is_written(tmp_path: Path) -> None:
    assert parsed(TEXT) == [ENTRY]
    assert parsed("") == parsed("# nothing yet\n") == parsed("accepted = []\n") == []
    write_acceptance(tmp_path / FILE, ENTRY, [], TODAY)
    text = (tmp_path / FILE).read_text()
    assert text.startswith("# Slowdowns that were accepted")
    assert text.endswith("\n\n" + TEXT)
    assert read_acceptances(tmp_path / FILE, TODAY) == [ENTRY]


@pytest.mark.parametrize(
    "text", ['say "so" \\ \n\t\x01\x7f', "☃ 𝛿 é", "[[accepted]]", "'''", '"""', "# no comment", "a = 1"]
)
def test_any_text_comes_back_as_it_went(tmp_path: Path, text: str) -> None:
    entry = msgspec.structs.replace(ENTRY, reason=text, owner=text, cell=text)
    write_acceptance(tmp_path / FILE, entry, [], TODAY)
    assert read_acceptances(tmp_path / FILE, TODAY) == [entry]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("max = 0.03", "max = 0", r"accepted\[0\]\.max = 0 in .*: allowed is a number above 0 and of at most 1$"),
        ("max = 0.03", "max = 1.01", r"max = 1\.01 in"),
        ("max = 0.03", "max = -0.03", r"max = -0\.03 in"),
        ("max = 0.03", "max = nan", "max = nan in"),
        ("max = 0.03", "max = '3%'", "max = '3%' in"),
        ("max = 0.03", "max = true", "max = True in"),
        ("max = 0.03", "mx = 0.03", r"unknown setting 'accepted\[0\]\.mx' in .*: the nearest known one is 'max'"),
        ("max = 0.03\n", "", r"accepted\[0\]\.max is missing in"),
        ('"exact rounding"', '" "', "reason = ' ' in .*: allowed is text of 1 to 500 characters, no NUL"),
        ('"exact rounding"', f'"{"x" * 501}"', "reason = 'x{199}… in .*: allowed is text of 1 to 500"),
        ('"exact rounding"', r'"a\u0000b"', r"reason = 'a\\x00b' in"),
        ('"Ada"', '["Ada"]', r"owner = \['Ada'\] in"),
        (SHA, "0123456", "commit = '0123456' in .*: allowed is the full hash of a commit"),
        (SHA, SHA + "\\n", "commit = "),
        ("2027-02-28", "2026-11-29", "expires = 2026-11-29 in .*: allowed is a day from .*created = 2026-11-30 on"),
        ("2027-02-28", "2028-11-30", "expires = 2028-11-30 in .*: allowed is a day up to 730 days after"),
        ("2027-02-28", "9999-12-31", "expires = 9999-12-31 in"),
        ("2027-02-28", "2027-02-28T12:00:00", "expires = .* in .*: allowed is a date like 2026-12-31"),
        ("2027-02-28", "'soon'", "expires = 'soon' in .*: allowed is a date like"),
        ("2027-02-28", "2027-02-30", "is not valid TOML"),
        ("created = 2026-11-30", "created = 2026-12-02", "created = 2026-12-02 in .*: allowed is a day up to today"),
        ("[[accepted]]", "[accepted]", "accepted in .* is not a list of tables: write each entry as"),
        ("[[accepted]]", "[[acepted]]", "unknown setting 'acepted' in .*: the only one is 'accepted'"),
        ("[[accepted]]", "accepted = [1]\n[[x]]", "unknown setting 'x'|accepted in .* is not a list of tables"),
        ("[[accepted]]", "accepted = " + "[" * 5000 + "]" * 5000 + "\n[x]", "nested too deeply"),
    ],
)
def test_a_mistake_is_one_line_with_value_and_domain(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(RequestError, match=message) as raised:
        parsed(TEXT.replace(old, new))
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500
    assert raised.value.exit_code is ExitCode.USAGE


def test_too_many_entries_and_too_many_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="has 501 entries, 500 are the most"):
        parsed(TEXT * 501)
    (tmp_path / FILE).write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(RequestError, match=f"has more than {MOST_BYTES} bytes"):
        read_acceptances(tmp_path / FILE, TODAY)


@pytest.mark.parametrize("kind", ["folder", "link", "loop", "dangling", "pipe", "denied"])
def test_what_is_no_file_is_refused_and_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / FILE
    (tmp_path / "other").write_text(TEXT)
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "denied":
            path.write_text(TEXT)
            path.chmod(0)
        case _:
            path.symlink_to({"link": "other", "loop": FILE, "dangling": "nowhere"}[kind])
    if kind == "denied" and os.access(path, os.R_OK):
        pytest.skip("whoever runs this may read everything")
    before = path.lstat()
    for act in (lambda: read_acceptances(path, TODAY), lambda: write_acceptance(path, ENTRY, [], TODAY)):
        with pytest.raises(RequestError, match=rf"{FILE} (is not a file|can't be read)"):
            act()
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)


def test_entries_are_added_at_the_end_and_comments_stay(tmp_path: Path) -> None:
    path, text = tmp_path / FILE, f"# ours\n\n{TEXT}# below the first\r\n\n  # above the second\n{TEXT.rstrip()}"
    path.write_text(text)
    further = msgspec.structs.replace(ENTRY, reason="another")
    write_acceptance(path, further, [], TODAY)
    assert path.read_text().startswith(text.replace("\r\n", "\n") + "\n\n[[accepted]]\n")
    assert read_acceptances(path, TODAY) == [ENTRY, ENTRY, further]


def test_a_replaced_entry_goes_and_nothing_else_does(tmp_path: Path) -> None:
    path = tmp_path / FILE
    quoting = TEXT.replace('"exact rounding"', "'''\n[not a table]\n# no comment\n'''").replace("0.03", "0.04")
    path.write_text(f"# above\n{TEXT}# below\n\n# of the next\n{quoting}# the end\n")
    first, second = read_acceptances(path, TODAY)
    renewed = msgspec.structs.replace(ENTRY, max=0.05)
    write_acceptance(path, renewed, [first], TODAY)
    kept = path.read_text()
    assert kept.startswith(f"# above\n# below\n\n# of the next\n{quoting}# the end\n\n[[accepted]]\n")
    assert read_acceptances(path, TODAY) == [second, renewed]
    write_acceptance(path, ENTRY, [second], TODAY)
    assert path.read_text().startswith("# above\n# below\n\n# of the next\n# the end\n\n[[accepted]]\n")
    assert read_acceptances(path, TODAY) == [renewed, ENTRY]


def test_of_two_equal_entries_one_is_replaced(tmp_path: Path) -> None:
    path, renewed = tmp_path / FILE, msgspec.structs.replace(ENTRY, max=0.05)
    path.write_text(f"{TEXT}\n{TEXT}")
    write_acceptance(path, renewed, [ENTRY], TODAY)
    assert read_acceptances(path, TODAY) == [ENTRY, renewed]


@pytest.mark.parametrize(
    "text",
    [
        "accepted = [{" + ", ".join(TEXT.splitlines()[1:]) + "}]\n",
        TEXT.replace('"exact rounding"', "'''\n[[accepted]]\n'''"),
    ],
    ids=["inline", "a header inside a text"],
)
def test_a_file_that_lines_can_not_change_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / FILE
    path.write_text(text + TEXT if "[[" in text else text)
    before, entries = path.read_bytes(), read_acceptances(path, TODAY)
    with pytest.raises(RequestError, match="can't be added to by a program"):
        write_acceptance(path, msgspec.structs.replace(ENTRY, max=0.5), [entries[-1]], TODAY)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [FILE]
