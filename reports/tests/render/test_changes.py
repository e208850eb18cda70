"""Change points as text, JSON and issues, whatever names and subjects hold."""

import json
import shlex
from dataclasses import dataclass

import msgspec

from solwatch.model.history import CellStep, ChangePoint
from solwatch.model.record import Commit
from solwatch.render.changes import (
    MOST_BISECTED,
    bisect_command,
    bisect_matrix,
    render_changes,
    render_changes_json,
    render_changes_markdown,
    render_issues,
)

GOOD, BAD = "9a7e5eed00" * 4, "4be1c0ffee" * 4
HOSTILE = "`` ` @team #1 <img src=x onerror=alert(1)> ![x](http://x) |\x1b[31m\u202e --> \n```\n# title $(rm -rf ~)"


@dataclass(frozen=True, kw_only=True)
class Found:
    point: ChangePoint
    new: bool
    suspects: list[Commit]


def found(
    *cells: str, direction: str = "slower", persists: bool = True, new: bool = True, text: str = "Split along K"
) -> Found:
    ratio = 1.041 if direction == "slower" else 0.9
    steps = [
        CellStep(
            benchmark="o_proj.OProj.track_time", cell=cell, environment="solwatch-py3.11", unit="seconds", good=GOOD,
            bad=BAD, before=18.24e-6, after=18.24e-6 * ratio, latest=18.24e-6, results=(12, 3),
        )
        for cell in cells
    ]  # fmt: skip
    point = ChangePoint(
        id="c0ffeec0ffee", machine="runner-3", direction=direction, good=GOOD, bad=BAD, cells=steps, persists=persists
    )
    commits = [Commit(sha=BAD, name=BAD, subject=text, committed_at="2026-03-04T05:06:07+00:00")]
    return Found(point=point, new=new, suspects=commits)


def test_new_lasting_slowdowns_are_bisected_the_largest_first_and_not_too_many() -> None:
    def by(ratio: float, **given: bool | str) -> Found:
        made = found(LLAMA, **given)
        (step,) = made.point.cells
        cells = [msgspec.structs.replace(step, before=1.0, after=ratio)]
        point = msgspec.structs.replace(made.point, id=str(ratio), cells=cells)
        return Found(point=point, new=made.new, suspects=made.suspects)

    left = [by(9.0, new=False), by(8.0, persists=False), by(7.0, direction="faster")]
    text, count = bisect_matrix([*left, *(by(1 + index / 10) for index in range(1, 6))])
    jobs = json.loads(text)["include"]
    assert "\n" not in text
    assert count == len(jobs) == MOST_BISECTED
    assert [job["change"] for job in jobs] == ["1.5", "1.4", "1.3"]
    bench = r"^o_proj\.OProj\(16,\ 'llama'\)$"
    assert jobs[0] == {"change": "1.5", "machine": "runner-3", "good": GOOD, "bad": BAD, "bench": bench}
    assert bisect_matrix(left) == ('{"include":[]}', 0)


LLAMA = "o_proj.OProj(16, 'llama')"


def test_the_count_comes_first_then_a_line_each_then_what_to_do() -> None:
    slower, faster = (
        found(LLAMA, "o_proj.OProj(1, 'llama')"),
        found(LLAMA, direction="faster", persists=False, new=False),
    )
    assert render_changes([slower, faster], known=1, files=41).splitlines() == [
        "1 new change point, 1 reported before, in 41 files of results",
        f"c0ffeec0ffee slower +4.10 % 9a7e5eed00..4be1c0ffee runner-3 {LLAMA} 18.24 µs → 18.99 µs and 1 more",
        f"c0ffeec0ffee faster −10.00 % 9a7e5eed00..4be1c0ffee runner-3 {LLAMA} 18.24 µs → 16.42 µs (gone again) "
        "(reported before)",
        f"→ {bisect_command(slower.point)}",
    ]


def test_the_bisect_command_names_the_range_and_the_cells_with_the_largest_change() -> None:
    command = shlex.split(bisect_command(found(LLAMA, LLAMA, *"abcd").point))
    assert command[:4] == ["solwatch", "bisect", GOOD, BAD]
    assert command[4:] == ["-b", r"^o_proj\.OProj\(16,\ 'llama'\)$", "-b", "^a$", "-b", "^b$"]


def test_an_issue_is_what_there_ought_to_be_and_only_for_what_became_slower() -> None:
    changes = [found(LLAMA), found(LLAMA, direction="faster"), found(LLAMA, persists=False, new=False)]
    open_, closed = json.loads(render_issues(changes))["issues"]
    assert (open_["state"], open_["new"], closed["state"], closed["new"]) == ("open", True, "closed", False)
    assert open_["title"] == f"+4.10 % in {LLAMA} on runner-3"
    assert open_["marker"] == "<!-- solwatch-change-point c0ffeec0ffee -->"
    assert open_["body"].startswith(open_["marker"] + "\n")
    assert "One cell is slower on `runner-3` from 4be1c0ffee on" in open_["body"]
    assert "`18.24 µs → 18.99 µs` (12 results before, 3 after" in open_["body"]
    assert f"```text\n{bisect_command(changes[0].point)}\n```" in open_["body"]
    assert "- 4be1c0ffee `Split along K`" in open_["body"]
    assert "back at the level before" in closed["body"]


def test_many_cells_stay_within_what_an_issue_takes() -> None:
    (issue,) = json.loads(render_issues([found(*(f"{'x' * 290}{index}" for index in range(500)))]))["issues"]
    assert len(issue["body"]) < 65_536
    assert "and 460 more" in issue["body"]


def outside_code(markdown: str) -> str:
    """Return what a Markdown reader takes for text: all but code spans and fenced blocks."""
    text, at = "", 0
    while at < len(markdown):
        if markdown[at] != "`":
            text += markdown[at]
            at += 1
            continue
        run = len(markdown[at:]) - len(markdown[at:].lstrip("`"))
        end = at + run
        while (end := markdown.find("`" * run, end)) >= 0:
            after = len(markdown[end:]) - len(markdown[end:].lstrip("`"))
            if after == run:
                break
            end += after
        assert end >= 0, f"a code span never ends: {markdown[at : at + 80]!r}"
        at = end + run
    return text


def test_hostile_names_and_subjects_do_nothing_in_markdown_nor_in_a_shell() -> None:
    hostile = found(HOSTILE, LLAMA, text=HOSTILE)
    markdown = render_changes_markdown([hostile])
    (issue,) = json.loads(render_issues([hostile]))["issues"]
    for text in (markdown, issue["body"].removeprefix(issue["marker"])):
        for mark in ("@team", "#1", "<img", "![x]", "-->", "rm -rf", "|"):
            assert mark not in outside_code(text)
            assert mark in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "\n" not in issue["title"]
    assert "\x1b" not in render_changes([hostile], known=0, files=1)
    assert len(render_changes([hostile], known=0, files=1).splitlines()) == 3
    pattern = shlex.split(bisect_command(hostile.point))[5]
    assert "rm" in pattern


def test_the_document_is_json_that_is_harmless_to_print() -> None:
    text = render_changes_json([found(HOSTILE)]).decode()
    assert "\x1b" not in text
    assert "\u202e" not in text
    document = json.loads(text)
    assert document["schema_version"] == 1
    (only,) = document["changes"]
    assert only["point"]["cells"][0]["cell"] == HOSTILE
    assert (only["point"]["id"], only["new"]) == ("c0ffeec0ffee", True)


def test_without_changes_the_markdown_says_so() -> None:
    assert render_changes_markdown([]) == "No new change points.\n"
