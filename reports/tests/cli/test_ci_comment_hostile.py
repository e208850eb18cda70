"""``ci comment`` on figures and shapes that nothing has measured: a comment that fits, or one line and 3."""

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.hostile import Keys, anything, figures, places, replaced
from fakes.verdicts import HEAD, PLAN, verdict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solwatch.app.joining import joined
from solwatch.cli.main import outcome
from solwatch.render.joint import COMMENT_BYTES, MARKER
from solwatch.workspace.artifacts import MOST_BYTES, Found

JOINT = msgspec.to_builtins(joined([Found(where="x", value=verdict(code=1))], entries=["h200"], plan=PLAN))


@pytest.fixture
def artifact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "artifact").mkdir()
    return tmp_path / "artifact" / "joint.json"


def commented(artifact: Path, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the comment, or the line that is said in its place."""
    artifact.write_text(text)
    (artifact.parent.parent / "comment.md").unlink(missing_ok=True)
    capsys.readouterr()
    code = outcome(["ci", "comment", "artifact", "--output", "comment.md"])
    out, err = capsys.readouterr()
    if code == 0:
        shown = (artifact.parent.parent / "comment.md").read_text()
        assert shown.startswith(MARKER)
        assert len(shown.encode()) <= COMMENT_BYTES
        return shown
    assert (code, out) == (3, "")
    assert len(err.splitlines()) == 1, err
    assert len(err) < 600, err
    assert "internal error" not in err
    assert not (artifact.parent.parent / "comment.md").exists()
    return err


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys=st.sampled_from(list(places(JOINT))), value=anything)
def test_any_value_in_any_place(artifact: Path, capsys: pytest.CaptureFixture[str], keys: Keys, value: Any) -> None:
    commented(artifact, json.dumps(replaced(JOINT, keys, value)), capsys)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(point=figures, low=st.none() | figures, high=st.none() | figures, mde=st.none() | figures)
def test_any_figures_together(
    artifact: Path, capsys: pytest.CaptureFixture[str], point: float, low: float, high: float, mde: float
) -> None:
    document = json.loads(json.dumps(JOINT))
    (cell,) = document["entries"][0]["verdict"]["cells"]
    cell["slowdown_ratio"].update(point=point, low=low, high=high)
    cell["mde"] = mde
    said = commented(artifact, json.dumps(document), capsys)
    assert "inf" not in said.replace("infrastructure", "").replace("Infinity", "") or "can't be trusted" in said
    assert "nan" not in said.lower() or "can't be trusted" in said


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("mde", -1e308, "o_proj.OProj(1) has mde = -1e+308, allowed is 0 to inf"),
        ("mde", -0.01, "has mde = -0.01, allowed is 0 to inf"),
        ("mde", math.nan, "can't be trusted: not an JointVerdict"),
        ("mde", math.inf, "can't be trusted: not an JointVerdict"),
        ("slowdown_ratio", 1e12, "has slowdown_ratio = 1e+12, allowed is 0 to 1e+09"),
        ("slowdown_ratio", -1.0, "has slowdown_ratio = -1, allowed is 0 to 1e+09"),
    ],
)
def test_what_nothing_can_have_measured_is_named(
    artifact: Path, capsys: pytest.CaptureFixture[str], field: str, value: float, said: str
) -> None:
    place: Keys = ("entries", 0, "verdict", "cells", 0, field)
    place += ("point",) if field == "slowdown_ratio" else ()
    assert said in commented(artifact, json.dumps(replaced(JOINT, place, value)), capsys)


def test_so_it_is_in_the_verdict_of_one_entry(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = replaced(JOINT, ("entries", 0, "verdict", "cells", 0, "mde"), -1e308)
    (artifact.parent / "verdict.json").write_text(json.dumps(document["entries"][0]["verdict"]))
    assert outcome(["ci", "verdict", "artifact", "--entry", "h200"]) == 3
    assert "not trusted: verdict.json: o_proj.OProj(1) has mde = -1e+308" in capsys.readouterr().out


def test_no_cells_and_ten_thousand_of_them(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place: Keys = ("entries", 0, "verdict", "cells")
    assert "### FAIL" in commented(artifact, json.dumps(replaced(JOINT, place, [])), capsys)
    cell = {"key": "x", "verdict": "slower", "reason": "above_margin", "gated": True}
    many = json.dumps(replaced(JOINT, place, [cell] * 10_000))
    assert len(many) < MOST_BYTES
    assert commented(artifact, many, capsys).count("| `x` |") == 20
    whole = json.dumps(replaced(JOINT, place, [JOINT["entries"][0]["verdict"]["cells"][0]] * 10_000))
    assert "larger than 1 MiB" in commented(artifact, whole, capsys)


def test_many_runners_are_cut_and_counted(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost = {"entry": "h200", "code": 3, "problem": "`|<" * 50}
    text = commented(artifact, json.dumps(replaced(JOINT, ("entries",), [lost] * 5_000)), capsys)
    assert " runners more\n" in text


@pytest.mark.parametrize("opening", ["[", '{"plan":', '{"entries":[{"verdict":'])
def test_nesting_without_end_is_one_line(artifact: Path, capsys: pytest.CaptureFixture[str], opening: str) -> None:
    assert "can't be trusted" in commented(artifact, opening * 20_000, capsys)


def test_it_is_commented_on_where_all_is_as_it_should_be(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert HEAD.sha[:10] in commented(artifact, json.dumps(JOINT), capsys)
