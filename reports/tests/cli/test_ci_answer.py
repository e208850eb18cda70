"""``ci answer``: a bisection that another machine wrote, as a comment; nothing in it is believed or acts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.bisections import CELL, World, asked
from fakes.hostile import ATTACKS, Keys, anything, places, replaced, tokens
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solwatch.cli.main import outcome
from solwatch.judge.bisecting import concluded
from solwatch.render.bisection_comment import comment_marker
from solwatch.render.joint import COMMENT_BYTES
from solwatch.render.json import render_bisection

GOOD, BAD = "0" * 40, f"{8:08x}{'0' * 32}"
URL = "https://github.com/owner/project/actions/runs/4711"
FOUND = render_bisection(concluded(World({CELL: [1.0] * 5 + [1.041] * 4}).run(), asked(good=GOOD, bad=BAD)))
PLACES = list(places(json.loads(FOUND)))
ARGUMENTS = ["--good", GOOD, "--bad", BAD, "--run-url", URL]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answer").mkdir()
    (tmp_path / "answer/bisection.json").write_bytes(FOUND)
    return tmp_path / "answer"


def changed(source: Path, change: Callable[[Any], Any]) -> None:
    path = source / "bisection.json"
    document = json.loads(path.read_text())
    change(document["bisection"])
    path.write_text(json.dumps(document))


def test_the_comment_has_marker_answer_and_link(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["ci", "answer", "answer", *ARGUMENTS, "--output", "comment.md"]) == 0
    lines = (source.parent / "comment.md").read_text().splitlines()
    assert lines[0] == comment_marker(GOOD, BAD)
    assert lines[1].startswith("**first slower commit**: 00000005 `change 5`")
    assert lines[-1].endswith(URL)
    assert capsys.readouterr().out == (source.parent / "comment.md").read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: found["asked"].update(bad="9" * 40), "it is not told"),
        (lambda found: found["commits"][5].update(sha="@octocat"), "can't be trusted"),
        (lambda found: found["gates"][0].update(head="7" * 40), "it contradicts itself"),
        (lambda found: found["answers"][0].update(suspects=[]), "it contradicts itself"),
        (lambda found: found.update(commits=[]), "it contradicts itself"),
        (lambda found: found.update(exit_code=77, answers=[]), "it contradicts itself"),
    ],
)
def test_what_can_not_be_trusted_makes_no_comment(
    source: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Any], Any], said: str
) -> None:
    changed(source, change)
    assert outcome(["ci", "answer", "answer", *ARGUMENTS, "--output", "comment.md"]) == 3
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err
    assert not (source.parent / "comment.md").exists()


def test_a_link_and_a_missing_file_are_refused(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source / "bisection.json").rename(source.parent / "elsewhere.json")
    assert outcome(["ci", "answer", "answer", *ARGUMENTS]) == 3
    (source / "bisection.json").symlink_to(source.parent / "elsewhere.json")
    assert outcome(["ci", "answer", "answer", *ARGUMENTS]) == 3
    assert "or is a link" in capsys.readouterr().err


def poisoned(value: Any, text: str, name: str = "") -> Any:
    """Put ``text`` in place of every text of free form."""
    if isinstance(value, dict):
        return {key: poisoned(each, text, key) for key, each in value.items()}
    if isinstance(value, list):
        return [poisoned(each, text, name) for each in value]
    return text if name in ("subject", "author", "committed_at", "record", "failed") and value is not None else value


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_the_file_is_markup(source: Path, attack: str) -> None:
    path = source / "bisection.json"
    path.write_text(json.dumps(poisoned(json.loads(path.read_text()), attack)))
    assert outcome(["ci", "answer", "answer", *ARGUMENTS, "--output", "comment.md"]) == 0
    found = tokens((source.parent / "comment.md").read_text())
    assert [token.content.strip() for token in found if "html" in token.type] == [comment_marker(GOOD, BAD)]
    assert not {"link_open", "image", "fence", "heading_open"} & {token.type for token in found}
    said = " ".join(token.content for token in found if token.type == "text")
    assert not {mark for mark in ("@octocat", "#1", "evil.example") if mark in said}


def test_a_long_one_is_cut_at_a_line_and_says_so(source: Path) -> None:
    changed(source, lambda found: found.update(gates=found["gates"] * 200))
    assert outcome(["ci", "answer", "answer", *ARGUMENTS, "--output", "comment.md"]) == 0
    text = (source.parent / "comment.md").read_text()
    assert len(text.encode()) <= COMMENT_BYTES
    assert " lines more\n" in text
    assert text.rstrip().endswith(URL)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys=st.sampled_from(PLACES), value=anything)
def test_any_value_in_any_place(source: Path, capsys: pytest.CaptureFixture[str], keys: Keys, value: Any) -> None:
    (source / "bisection.json").write_text(json.dumps(replaced(json.loads(FOUND), keys, value)))
    capsys.readouterr()
    code = outcome(["ci", "answer", "answer", *ARGUMENTS])
    out, err = capsys.readouterr()
    if code == 0:
        assert out.startswith(comment_marker(GOOD, BAD))
        assert len(out.encode()) <= COMMENT_BYTES
    else:
        assert (code, out, len(err.splitlines())) == (3, "", 1)
        assert "internal error" not in err
