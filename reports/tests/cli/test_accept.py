"""``solwatch accept``: what it writes, what it refuses, and that no file however spoilt makes it stumble."""

import contextlib
import subprocess
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from solwatch.app import accepting
from solwatch.app.acceptances import day_of
from solwatch.app.clock import SystemClock
from solwatch.cli.main import outcome
from solwatch.model.cell import CellInfo
from solwatch.model.errors import RequestError
from solwatch.workspace.acceptances import FILE, parse_acceptances, read_acceptances

CELL = "slow.time_nap"
TODAY = day_of(SystemClock())
ASKED = ["accept", CELL, "--max", "3%", "--reason", "exact rounding", "--owner", "Ada"]


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line of a refusal."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    (line,) = captured.err.splitlines()
    assert line.startswith("solwatch: ")
    return line


@pytest.mark.slow
def test_an_acceptance_is_written_and_said(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(ASKED) == 0
    until = TODAY + timedelta(days=90)
    assert capsys.readouterr().out.splitlines() == [
        f"accepted: {CELL} up to 3.00 % by Ada until {until}",
        f"→ commit {FILE} together with the slowdown, so that both are reviewed",
    ]
    (entry,) = read_acceptances(repository / FILE, TODAY)
    assert (entry.cell, entry.max, entry.reason, entry.owner) == (CELL, 0.03, "exact rounding", "Ada")
    head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert (entry.commit, entry.created, entry.expires) == (head, TODAY, until)

    before = (repository / FILE).read_bytes()
    assert outcome(ASKED) == 2
    assert f"{CELL} has an acceptance of 3 % until {until} in {FILE}: --replace renews or corrects it" in said(capsys)
    assert (repository / FILE).read_bytes() == before

    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "next"], check=True)
    assert outcome([*ASKED, "--replace", "--max", "0.05", "--days", "10"]) == 0
    (renewed,) = read_acceptances(repository / FILE, TODAY)
    assert (renewed.max, renewed.expires) == (0.05, TODAY + timedelta(days=10))
    assert renewed.identity == entry.identity  # it is still about the slowdown of that time
    assert outcome([*ASKED, "--further", "--expires", str(TODAY + timedelta(days=1))]) == 0
    further = read_acceptances(repository / FILE, TODAY)[1]
    assert further.identity != entry.identity
    assert further.expires == TODAY + timedelta(days=1)


@pytest.mark.slow
def test_a_cell_that_is_not_there_is_refused_unless_the_suite_can_not_be_listed(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mistyped = [ASKED[0], "slow.time_napp", *ASKED[2:]]
    assert outcome(mistyped) == 2
    assert "no cell of the suite answers to 'slow.time_napp': did you mean slow.time_nap?" in said(capsys)
    assert not (repository / FILE).exists()
    assert outcome([ASKED[0], "slow.time_*", *ASKED[2:]]) == 0
    (repository / "benchmarks" / "more.py").write_text("import not_built_yet\n")
    capsys.readouterr()
    assert outcome(mistyped) == 0
    captured = capsys.readouterr()
    assert "warning: slow.time_napp was not found, but the suite can't be listed whole" in captured.err
    assert len(read_acceptances(repository / FILE, TODAY)) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max", "3"], "'3' is not a slowdown above 0 and up to 100 %: write 3% or 0.03"),
        (["--max", "0%"], "'0%' is not a slowdown"),
        (["--max", "-3%"], "'-3%' is not a slowdown"),
        (["--max", "101%"], "'101%' is not a slowdown"),
        (["--max", "nan"], "'nan' is not a slowdown"),
        (["--max", "9" * 5000 + "%"], "is not a slowdown"),
        (["--reason", ""], "reason = '' in the command line: allowed is text of 1 to 500 characters, no NUL"),
        (["--reason", "x" * 501], "in the command line: allowed is text of 1 to 500"),
        (["--owner", " "], "owner = ' ' in the command line"),
        (["--reason", "\udcff"], "must be Unicode text: type them in UTF-8"),
        (["--expires", "soon"], "'soon' is not a day: write it as 2027-03-31"),
        (["--expires", "2020-01-01"], "--expires is 2020-01-01: allowed is a day after today"),
        (["--expires", "9999-12-31"], "--expires is 9999-12-31: allowed is a day after today"),
        (["--expires", str(TODAY)], f"--expires is {TODAY}: allowed is a day after today"),
        (["--days", "0"], "--days"),
        (["--days", "731"], "--days"),
        (["--days", "3", "--expires", "2027-03-31"], "--days and --expires both say how long it holds"),
        (["--replace", "--further"], "exclude each other"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    repository: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert outcome([*ASKED, *options]) == 2
    assert message in said(capsys)
    assert not (repository / FILE).exists()


def test_somebody_has_to_answer_for_it(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    assert outcome(ASKED[:-2]) == 2
    assert "git knows no user.name here: say with --owner who answers" in said(capsys)


@pytest.mark.parametrize("at", ["the commit", "the working tree"])
def test_a_gate_of_a_head_with_a_spoilt_file_is_refused_before_anything_is_built(
    repository: Path, capsys: pytest.CaptureFixture[str], at: str
) -> None:
    (repository / FILE).write_text("[[accepted]]\ncell = 'x'\n")
    head = ["--working-tree"]
    if at == "the commit":
        identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
        subprocess.run(["git", "add", "-A"], check=True)
        subprocess.run(["git", *identity, "commit", "-q", "-m", "spoilt"], check=True)
        head = ["HEAD"]
    assert outcome(["gate", "HEAD", *head, "--device", "cpu"]) == 2
    assert f"accepted[0].max is missing in {FILE} at " in said(capsys)


VALID = f"""\
# reviewed
[[accepted]]
cell = "{CELL}"
max = 0.03
reason = "exact rounding"
owner = "Ada"
commit = "{"0" * 40}"
created = {TODAY}
expires = {TODAY + timedelta(days=9)}
"""
PIECES = [
    "[[accepted]]", "accepted", "[", "]", '"', "'''", "=", "\n", "\r", "\0", "#", "max", "0.03", "-1", "1e400", "nan",
    "inf", "2020-02-30", "9999-12-31", str(date.min), "0x" + "f" * 5000, "9" * 5000, "[" * 3000, "{", "true", "\ufeff",
    "\x7f", "\\u0000", "\\ud800", "☃", "x" * 300_000, VALID,
]  # fmt: skip


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """Return a valid file with pieces cut out, put in or doubled, or any bytes at all."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=300))
    text = VALID
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 40)))
        text = text[:start] + draw(st.sampled_from(["", *PIECES])) + text[end:]
    content = text.encode()
    at = draw(st.integers(0, len(content)))
    return content[:at] + draw(st.sampled_from([b"", b"", b"\xff", b"\xc3", b"\xed\xa0\x80"])) + content[at:]


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the suite be known, so that a process of its own need not list it each time."""
    info = CellInfo(key=CELL, benchmark=CELL, params=[], param_names=[], kind="asv")
    monkeypatch.setattr(accepting, "ForkServer", lambda *arguments, **options: contextlib.nullcontext())
    monkeypatch.setattr(accepting, "cells_seen", lambda *arguments: ([info], True))


@pytest.mark.slow
@pytest.mark.usefixtures("listed")
@given(spoilt())
@example(VALID.encode())
@example(VALID.encode() * 2)
@example(b"")
@example(VALID.replace("0.03", "0.04 # \u2603").replace("\n", "\r\n").encode())
@example(f"accepted = [{{{', '.join(VALID.splitlines()[2:])}}}]\n".encode())
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_however_spoilt_makes_it_stumble(
    repository: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    path = repository / FILE
    path.write_bytes(content)
    try:
        before, wrong = parse_acceptances(content, FILE, TODAY), None
    except RequestError as error:
        before, wrong = [], str(error)
    code = outcome([*ASKED, "--replace"])
    if code == 0:
        assert wrong is None
        replaced = [index for index, entry in enumerate(before) if entry.cell == CELL][-1:]
        kept = [entry for index, entry in enumerate(before) if index not in replaced]
        *others, entry = read_acceptances(path, TODAY)
        assert (entry.cell, entry.owner, others) == (CELL, "Ada", kept)
        assert capsys.readouterr().out.startswith(f"accepted: {CELL} up to 3.00 % by Ada")
        return
    assert code == 2
    line = said(capsys)
    assert len(line) < 1000
    assert path.read_bytes() == content
    if len(content) <= 1 << 18:
        assert (wrong is None) == (f"{FILE} can't be added to by a program" in line)
