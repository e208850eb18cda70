"""The pull request's comment: golden, within its limit, and harmless whatever the files say."""

import re
from pathlib import Path

import msgspec
import pytest
from fakes.hostile import html, prose, texts, tokens
from fakes.verdicts import PLAN, poisoned_json, slower, verdict
from hypothesis import given, settings

from solwatch.app.joining import joined
from solwatch.model.entry_verdict import MOST_CELLS, EntryVerdict, Origin
from solwatch.model.joint_verdict import JointVerdict
from solwatch.model.plain import hidden, without_commands
from solwatch.render.joint import COMMENT_BYTES, MARKER, render_comment, render_joint, render_joint_line
from solwatch.workspace.artifacts import Found

GOLDEN = Path(__file__).parent / "golden"
URL = "https://github.com/owner/project/actions/runs/4711"
OURS = {MARKER, "<details><summary>Why</summary>", "</details>"}


def join(*verdicts: EntryVerdict, **given: object) -> JointVerdict:
    files = [Found(where=f"verdict-{index}", value=one) for index, one in enumerate(verdicts)]
    return joined(files, **({"plan": PLAN} | given))


ORIGIN = Origin(run="4700", attempt=1, created_at="2026-03-04T04:00:00+00:00", machine="runner-1")
MIXED = join(
    verdict("h200", 1),
    verdict("b200", 3),
    verdict("b200", 0, trial=2, gpus=["GPU-2"]),
    verdict("a100", 0, reused=ORIGIN),
    verdict("l40s", 4),
    entries=["h200", "b200", "a100", "l40s", "cpu"],
)


def test_is_what_it_was() -> None:
    path = GOLDEN / "comment.md"
    found = render_comment(MIXED, run_url=URL)
    assert found == path.read_text(encoding="utf-8"), f"if this change is meant, write it to {path}"


def test_says_who_was_measured_again_where_and_what_was_reused() -> None:
    assert render_joint_line(MIXED).splitlines() == [
        "FAIL: h200: 1 slower; worst: o_proj.OProj(1) +3.14 %",
        "  h200: fail: 1 slower; worst: o_proj.OProj(1) +3.14 %",
        "  cpu: infrastructure: no verdict arrived: the runner was lost, or the job was cancelled or ran out of time",
        "  l40s: undecided: the noise hides what the gate must catch",
        "  b200: pass: nothing is slower; measured again on another machine",
        "  a100: pass: nothing is slower; reused from run 4700",
    ]


@pytest.mark.parametrize(
    ("joint", "title"),
    [
        (join(verdict()), "### PASS"),
        (join(verdict(code=2)), "### REFUSED"),
        (join(verdict(code=3)), "### INFRASTRUCTURE: no verdict on this change"),
        (join(verdict(code=4)), "### NOTHING DECIDED"),
        (join(build="head"), "### FAIL"),
        (join(build="base"), "### INFRASTRUCTURE"),
        (join(plan=msgspec.structs.replace(PLAN, needed=False, base=None)), "### PASS"),
    ],
)
def test_a_broken_machine_is_never_called_slower(joint: JointVerdict, title: str) -> None:
    shown = render_comment(joint)
    assert shown.startswith(f"{MARKER}\n{title}")
    assert ("slower" in shown.replace("nothing is slower", "")) is False or joint.code == 1


def test_the_word_in_a_file_is_not_believed() -> None:
    lying = msgspec.structs.replace(join(verdict(code=3)), word="fail")
    assert "FAIL" not in render_comment(lying) + render_joint_line(lying)


@settings(max_examples=60, deadline=None)
@given(texts)
def test_hostile_texts_are_text(text: str) -> None:
    joint = msgspec.json.decode(poisoned_json(MIXED, text), type=JointVerdict)
    joint = msgspec.structs.replace(joint, problems=[text, f"{text}: x"])
    shown = render_comment(joint, run_url=URL)
    assert shown.startswith(f"{MARKER}\n### ")
    assert html(shown) == OURS
    assert {token.type for token in tokens(shown)} & {"link_open", "image", "hr", "blockquote_open"} == set()
    assert [token.type for token in tokens(shown)].count("fence") == 1
    assert not re.search("@|#[0-9]|://(?!github.com/owner)|evil|\\$", prose(shown))
    assert {char for char in shown if hidden(char)} == {"\n"}
    for line in without_commands(render_joint_line(joint)).splitlines():
        assert not line.strip().startswith("::")
        assert "##[" not in line


@pytest.mark.parametrize("entries", [5, 60, 2000])
def test_it_never_is_too_long_and_what_is_cut_is_counted(entries: int) -> None:
    cells = [slower(f"o_proj.OProj({index}, {'µ' * 190!r})") for index in range(MOST_CELLS + 5)]
    joint = join(*(verdict(f"runner-{index}", 1, cells=cells) for index in range(entries)))
    shown = render_comment(joint, run_url=URL)
    assert len(shown.encode()) <= COMMENT_BYTES
    assert shown.endswith(f"{URL}\n")
    rows = sum(line.startswith("| `o_proj") for line in shown.splitlines())
    assert rows == 100 if entries == 5 else rows < entries * MOST_CELLS
    if entries > 5:
        assert f"and {entries * MOST_CELLS - rows} cells more; the report has all" in shown
    assert ("runners more" in shown) == (entries == 2000)
    assert html(shown) <= OURS


def test_problems_are_cut_and_counted() -> None:
    broken = [Found[EntryVerdict](where=f"verdict-{index}", problem="not a verdict") for index in range(25)]
    shown = render_joint(joined(broken, plan=PLAN))
    assert shown.count("- not trusted: ") == 10
    assert "- and 15 more that can't be trusted" in shown
