"""What a bisection shows: the answer first, all gates, what it can't tell; harmless whatever a commit says."""

import json
from pathlib import Path

import msgspec
import pytest
from fakes.bisections import NO_BUILD, UNDECIDED, World, asked, past

from solwatch.judge.bisecting import Step, concluded
from solwatch.model.bisection import Found
from solwatch.model.config import Config
from solwatch.render.bisected_text import render_bisected, render_markdown
from solwatch.render.bisecting import duration, gate_line, step_line
from solwatch.render.json import render_bisection

GOLDEN = Path(__file__).parent / "golden"
CELL = "o_proj.OProj(16, 'llama-3-8b')"
HOSTILE = "\x1b[31m](x) | <img src=x> @team #1 `tick` ‮ **bold** https://example.org"


def jump(count: int, at: int, by: float = 1.041) -> list[float]:
    return [1.0] * at + [by] * (count - at)


def told(world: World, **given: object) -> Found:
    return concluded(world.run(), asked(**given))


def skipping() -> Found:
    other = {"o_proj.OProj(1, 'tiny')": jump(12, 3, 1.02), "o_proj.OProj(4, 'tiny')": [1.0] * 12}
    odd = {(0, 6): [NO_BUILD], (0, 7): [UNDECIDED, UNDECIDED]}
    return told(World({CELL: jump(12, 7)} | other, odd=odd))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("bisect-one", told(World({CELL: jump(9, 5)}))),
        ("bisect-skipping", skipping()),
        ("bisect-steps", told(World({CELL: [1.0, 1.004, 1.008, 1.012, 1.016]}))),
        ("bisect-nothing", told(World({CELL: [1.0] * 4}))),
    ],
)
def test_is_what_it_was(name: str, found: Found) -> None:
    for path, text in (
        (GOLDEN / f"{name}.txt", render_bisected(found, width=120) + "\n"),
        (GOLDEN / f"{name}.md", render_markdown(found)),
    ):
        assert text == path.read_text(encoding="utf-8"), f"if this change is meant, write it to {path}"


def test_the_answer_is_the_first_line_whole_at_any_width() -> None:
    found = told(World({CELL: jump(9, 5)}))
    for width in (20, 60, 200):
        first = render_bisected(found, width=width).splitlines()[0]
        assert first == (
            "first slower commit: 00000005 change 5 (author 5, 2026-11-30), +4.10 % in "
            f"{CELL}, 5 gates, 3 min"
        )  # fmt: skip


def test_a_history_that_turns_back_is_said_with_figures() -> None:
    text = render_bisected(told(World({CELL: [1.0, 1.05, 1.0, 1.05]}, keys="abab")), width=300)
    assert (
        "the history is not monotonic in o_proj.OProj(16, 'llama-3-8b'): 00000001 is slower (+5.00 %), 00000002 after "
        "it is not (same build and suite as 00000000)"
    ) in text
    text = render_bisected(told(World({CELL: [1.0, 1.05, 1.0, 1.0, 1.06]}, keys="abacd")), width=300)
    assert "00000002 has the build and suite of 00000000 again: what the 1 commit before it did was taken back" in text


def test_a_small_share_of_the_whole_names_the_command_for_the_rest() -> None:
    world = World({CELL: [1.0, 1.0, 1.03, 1.03, 1.08]})
    assert "of +8.00 % it explains +3.00 %: solwatch bisect 00000002 00000004 searches for the rest" in (
        render_bisected(told(world), width=200)
    )
    assert "searches for the rest" not in render_bisected(told(World({CELL: jump(5, 2)})))


def test_a_merge_is_said_unless_it_was_looked_inside() -> None:
    found = told(World({CELL: jump(5, 2)}))
    merged = msgspec.structs.replace(found, commits=past(5, merge=2))
    assert "00000002 is a merge: --inside-merges searches what it brought in" in render_bisected(merged)
    looked = msgspec.structs.replace(merged, asked=asked(inside_merges=True))
    assert "is a merge" not in render_bisected(looked)


def hostile() -> Found:
    found = told(World({HOSTILE: jump(7, 4)}, odd={(0, 3): [HOSTILE]}))
    commits = [msgspec.structs.replace(commit, subject=HOSTILE, author=HOSTILE) for commit in found.commits]
    return msgspec.structs.replace(found, commits=commits)


def test_nothing_that_a_commit_says_acts_on_a_terminal() -> None:
    found = hostile()
    lines = [
        render_bisected(found, width=200),
        step_line(found.commits, Step(base=0, head=3, cells=(), gates_left=2), 1),
        *(gate_line(found.commits[3], gate) for gate in found.gates),
        render_bisection(found).decode(),
    ]
    assert not {char for char in "".join(lines) if char in "\x1b‮"}
    assert json.loads(lines[-1])["bisection"]["commits"][3]["subject"] == HOSTILE


def test_nothing_that_a_commit_says_is_markdown() -> None:
    text = render_markdown(hostile())
    assert not {char for char in text if char in "\x1b‮"}
    for line in text.splitlines():
        outside = "".join(line.replace("`tick`", "tick").split("``")[::2])
        assert not {mark for mark in ("<img", "@team", "#1", "**bold**", "https:") if mark in outside}, line


def test_json_has_it_all_and_its_version() -> None:
    document = json.loads(render_bisection(skipping()))
    assert document["schema_version"] == 1
    answer = document["bisection"]["answers"][0]
    assert (answer["cell"], answer["state"], len(answer["suspects"])) == (CELL, "confirmed", 3)
    assert document["bisection"]["gates"][0]["record"] == (
        "build/solwatch/records/20261130T110001-00000000-0000000b.jsonl"
    )


@pytest.mark.parametrize(("seconds", "text"), [(3.4, "3 s"), (119, "119 s"), (185, "3 min"), (9000, "2.5 h")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_settings_that_differ_are_named_one_by_one() -> None:
    assert asked().differences(asked(config=Config(min_effect=0.1), machine="n")) == ["machine", "min_effect"]
