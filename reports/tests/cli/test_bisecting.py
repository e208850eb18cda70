"""What ``bisect`` leaves: the answer on stdout, its files, its exit code; the search itself is a fake's."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fakes.bisections import World, asked

from solwatch.cli.main import outcome
from solwatch.judge.bisecting import concluded
from solwatch.render.schemas import published_schema


def answering(monkeypatch: pytest.MonkeyPatch, times: list[float]) -> list[Any]:
    called: list[Any] = []
    found = concluded(World({"a": times}).run(), asked())

    def bisect(given: Any, services: Any) -> Any:
        called.append(given)
        return found

    monkeypatch.setattr("solwatch.app.bisecting.bisect", bisect)
    return called


@pytest.mark.parametrize(("times", "code"), [([1.0, 1.0, 1.1], 1), ([1.0, 1.0, 1.0], 0), ([1.0, 1.006, 1.012], 4)])
def test_its_exit_code_and_its_files(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    times: list[float],
    code: int,
) -> None:
    called = answering(monkeypatch, times)
    files = ["--json", "out/a.json", "--markdown", "out/a.md"]
    assert outcome(["bisect", "HEAD~1", "HEAD", "--all", "--skips", "3", "-b", "x", "--builds", "b", *files]) == code
    first = capsys.readouterr().out.splitlines()[0]
    written = json.loads((project / "out/a.json").read_text())
    assert written["bisection"]["exit_code"] == code
    check = jsonschema.Draft202012Validator(json.loads(published_schema("bisection")))
    check.validate(written)
    del written["bisection"]["answers"]
    with pytest.raises(jsonschema.ValidationError, match="answers"):
        check.validate(written)
    assert (project / "out/a.md").read_text().startswith(f"**{first.partition(': ')[0]}**: ")
    (given,) = called
    assert (given.every_cell, given.inside_merges, given.fresh, given.most_untestable) == (True, False, False, 3)
    assert given.request.builds == Path("b")
    assert (given.request.base, given.request.head, given.request.selection.patterns) == ("HEAD~1", "HEAD", ("x",))


def test_a_file_that_can_not_be_written_is_refused_before_anything_is_measured(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called = answering(monkeypatch, [1.0, 1.1])
    assert outcome(["bisect", "HEAD~1", "HEAD", "--json", "setup.py/a.json"]) == 2
    assert "setup.py" in capsys.readouterr().err
    assert called == []


@pytest.mark.parametrize(("times", "code"), [([1.0, 1.1], 1), ([1.0, 1.0], 3)])
def test_a_verdict_goes_before_a_file_that_is_missing_in_the_end(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    times: list[float],
    code: int,
) -> None:
    from solwatch.model.errors import MachineError

    def full(path: Path, data: bytes) -> None:
        raise MachineError(f"no space left for {path}")

    answering(monkeypatch, times)
    monkeypatch.setattr("solwatch.workspace.files.write_atomically", full)
    assert outcome(["bisect", "HEAD~1", "HEAD", "--json", "a.json"]) == code
    assert "no space left for a.json" in capsys.readouterr().err
