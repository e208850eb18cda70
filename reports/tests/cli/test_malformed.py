"""Malformed files, through the commands that read them: one clear line, the right exit code, nothing overwritten."""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.corpora import corpus, write
from fakes.malformed import malformed
from fakes.records import FakeCell, o_proj_work, record
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solwatch.app.keeping import keep
from solwatch.asvio.machine import machine_info
from solwatch.asvio.reading import MOST, benchmarks_in, results_in, values_in
from solwatch.cli.main import outcome
from solwatch.judge.judging import judge
from solwatch.model.errors import NothingMeasuredError
from solwatch.workspace.records import RecordWriter

pytestmark = pytest.mark.slow

MANY = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
CELLS = [FakeCell(key="o_proj.OProj(1)", ratio=1.05, work=o_proj_work(1, 64, 64)), FakeCell(key="o_proj.OProj(16)")]
TAKEN = record(CELLS, rounds=3, samples=4)
REACHED = "the session was reached"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository of one commit in which no session begins: what reads a file comes before it."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), *identity, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    @contextlib.contextmanager
    def session(*arguments: object) -> Iterator[None]:
        raise NothingMeasuredError(REACHED)
        yield

    monkeypatch.setattr("solwatch.app.recording.session", session)
    monkeypatch.setattr("solwatch.app.gate.session", session)
    return tmp_path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("record") / "r.jsonl"
    with RecordWriter.create(path, TAKEN.header) as writer:
        for completed in TAKEN.rounds:
            writer.append(completed)
        assert TAKEN.end is not None
        writer.finish(TAKEN.end)
    return path.read_bytes()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write(tmp_path_factory.mktemp("corpus") / "c.jsonl", corpus(CELLS, rounds=3)).read_bytes()


def ended(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Return exit code, output and what was said; whatever went wrong is one line and no internal error."""
    capsys.readouterr()
    code = outcome(arguments)
    shown, said = capsys.readouterr()
    assert "internal error" not in said, said
    assert "Traceback" not in said + shown
    if code == 2:
        assert (shown, said.count("\n")) == ("", 1), said
    return code, shown, said


@given(data=st.data())
@MANY
def test_a_malformed_record(
    data: st.DataObject, repository: Path, recorded: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository / "r.jsonl"
    content = data.draw(malformed(recorded, lines=True))
    path.write_bytes(content)
    code, shown, said = ended(["report", str(path)], capsys)
    assert path.read_bytes() == content
    if code == 2:
        assert str(path) in said or "[tool.solwatch]" in said
    else:
        # What still is a record is judged; 3 and 4 without a verdict are said to be of no round or of two devices.
        assert shown or "no completed round" in said or "differ" in said


@given(data=st.data())
@MANY
def test_a_malformed_corpus_is_not_gone_on_with(
    data: st.DataObject, repository: Path, kept: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository / "c.jsonl"
    content = data.draw(malformed(kept, lines=True))
    path.write_bytes(content)
    code, _, said = ended(["record", "HEAD", "HEAD", "--rounds", "5", "--output", str(path)], capsys)
    assert path.read_bytes() == content
    assert (code == 2 and str(path) in said) or (code == 4 and REACHED in said)


@given(data=st.data())
@MANY
def test_a_malformed_list_of_machines(
    data: st.DataObject, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository / ".asv-machine.json"
    path.unlink(missing_ok=True)
    machine_info()
    content = data.draw(malformed(path.read_bytes(), lines=False))
    path.write_bytes(content)
    code, _, said = ended(["gate", "HEAD", "HEAD"], capsys)
    if code == 3:
        assert str(path) in said
        assert said.count("\n") == 1
        assert path.read_bytes() == content
    else:
        assert code == 4
        assert REACHED in said


NAMES = ["benchmarks.json", "machine.json", "result"]


def history(folder: Path) -> dict[str, Path]:
    """Write a whole history and return its files."""
    keep(TAKEN, judge(TAKEN), folder, folder / "r.jsonl")
    results = folder / "build/asv/results"
    [machine] = results.glob("*/machine.json")
    assert TAKEN.header.head is not None
    [result] = machine.parent.glob(f"{TAKEN.header.head.sha[:8]}-*.json")
    return {"benchmarks.json": results / "benchmarks.json", "machine.json": machine, "result": result}


@pytest.fixture
def history_of(repository: Path) -> dict[str, tuple[Path, bytes]]:
    return {name: (path, path.read_bytes()) for name, path in history(repository).items()}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@MANY
def test_a_malformed_history_costs_neither_the_page_nor_itself(
    name: str, data: st.DataObject, repository: Path, history_of: dict[str, tuple[Path, bytes]]
) -> None:
    for path, content in history_of.values():
        path.write_bytes(content)
    path, valid = history_of[name]
    content = data.draw(malformed(valid, lines=False))
    path.write_bytes(content)
    before = {each: each.read_bytes() for each, _ in history_of.values()}
    outcome = keep(TAKEN, judge(TAKEN), repository, repository / "r.jsonl")
    assert outcome.report is not None
    refused = [warning for warning in outcome.warnings if "asv's history was not written" in warning]
    assert all("\n" not in warning for warning in outcome.warnings)
    if refused:
        assert {each: each.read_bytes() for each in before} == before
    else:
        assert json.loads(path.read_bytes())


@given(data=st.data())
@MANY
def test_a_malformed_file_of_results_is_read_or_named(
    data: st.DataObject, repository: Path, history_of: dict[str, tuple[Path, bytes]]
) -> None:
    path, valid = history_of["result"]
    content = data.draw(malformed(valid, lines=False))
    path.write_bytes(content)
    benchmarks = benchmarks_in(path.parents[1])
    said: list[str] = []
    values = [value for results in results_in(path.parent, said.append) for *_, value in values_in(results, benchmarks)]
    assert all(0 < value < MOST for value in values)
    if said:
        [line] = [line for line in said if str(path) in line]
        assert "\n" not in line
    assert path.read_bytes() == content


@pytest.mark.parametrize("arguments", [["report"], ["record", "HEAD", "HEAD", "--rounds", "5", "--output"]])
def test_a_folder_in_a_files_place(repository: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    folder = repository / "r.jsonl"
    folder.mkdir()
    code, _, said = ended([*arguments, str(folder)], capsys)
    assert (code, str(folder) in said) == (2, True)
    assert folder.is_dir()


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_in_the_place_of_a_file_of_the_history(
    repository: Path, history_of: dict[str, tuple[Path, bytes]], name: str
) -> None:
    path, _ = history_of[name]
    path.unlink()
    path.mkdir()
    outcome = keep(TAKEN, judge(TAKEN), repository, repository / "r.jsonl")
    assert outcome.report is not None
    assert any("asv's history was not written" in warning and str(path) in warning for warning in outcome.warnings)
    assert path.is_dir()
