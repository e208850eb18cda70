"""How reasons are shown: conclusions, what differs base beside head, and what is the same in one line."""

import re

import msgspec
from fakes.reasons import KEY, explained
from fakes.records import FakeCell, record

from solwatch.judge.judging import judge
from solwatch.render.headline import headline
from solwatch.render.html import render_html
from solwatch.render.json import render_json
from solwatch.render.summary import render_summary
from solwatch.render.terminal import render_terminal
from solwatch.render.why import why_notes, why_views

SENTENCE = "spills appeared: 0 → 48 bytes a thread"


def test_what_differs_and_what_does_not() -> None:
    judgement = judge(explained())
    (key,) = why_views(judgement)
    plan, kernel, profile, around = why_views(judgement)[key].tables
    assert key == KEY
    assert [(figure.name, figure.base, figure.head) for figure in plan.differing] == [
        ("tile", "64×128×64", "128×128×64")
    ]
    assert plan.same == "kernel mma_tile; stages 3"
    assert [(figure.name, figure.base, figure.head) for figure in kernel.differing] == [
        ("machine code", "", "changed"),
        ("registers", "128", "168"),
        ("spills", "0 B", "48 B stored, 40 B loaded"),
        ("occupancy, theoretical", "25.0 %, 4 blocks, limited by registers", "18.8 %, 3 blocks, limited by registers"),
    ]
    assert "shared memory a block 48 KiB; threads a block 128; blocks 64" in kernel.same
    assert kernel.same.endswith("instructions, all 1204; mma 128; shared loads 96")
    assert profile.same.startswith("time, caches flushed 18.00 µs; DRAM, of its peak 61.0 %; stall: wait, cycles 1.25;")
    assert {"kernels launched", "clock, mean", "clocks held back by", "JIT and autotune caches"} == {
        figure.name for figure in around.figures
    }


def test_the_first_lines_say_the_reason_that_most_slower_cells_share() -> None:
    taken = explained()
    judgement = judge(taken)
    found = judgement.reasons[KEY]
    assert headline(taken, judgement).why == found.sentences[0] == "another tile: 64×128×64 → 128×128×64"
    assert headline(taken, msgspec.structs.replace(judgement, reasons={})).why == ""
    other = record([FakeCell(key=key, ratio=1.05) for key in (KEY, "b", "c", "d")])
    several = judge(other)
    silent, second = (msgspec.structs.replace(found, sentences=said) for said in ([], ["more registers"]))
    several = msgspec.structs.replace(several, reasons={KEY: second, "b": found, "c": found, "d": silent})
    assert headline(other, several).why == f"{found.sentences[0]} (2 of 4 slower cells)"


def test_the_page_says_why_once_and_says_it_first() -> None:
    taken = explained()
    page = render_html(taken, judge(taken))
    assert page.count(SENTENCE) == 1
    section = page[page.index('<section class="reasons">') :]
    assert section.index(SENTENCE) < section.index("head / base is")
    assert page.count('<section class="reasons">') == 1
    assert re.search(r"registers</th><td[^>]*>128</td><td[^>]*><strong>168</strong>", section)
    assert "ncu: &lt;b&gt;no&lt;/b&gt;" in page


def test_text_and_json_say_it_too() -> None:
    taken = explained()
    judgement = judge(taken)
    for text in (
        render_terminal(taken, judgement),
        render_summary(taken, judgement),
        render_json(taken, judgement).decode(),
    ):
        assert SENTENCE in text


def test_the_builds_are_summed_up_in_a_note() -> None:
    taken = explained()
    assert why_notes(taken) == [
        "17 kernels of the builds have the same machine code, 1 differ "
        "(fused_o_proj::mma_tile_kernel<__nv_bfloat16, 64, 128>)",
        "ncu: <b>no</b>",
    ]
    assert why_notes(record([FakeCell(key="a")])) == []


def test_a_record_without_reasons_looks_as_before() -> None:
    taken = record([FakeCell(key=KEY, ratio=1.05)])
    assert 'class="reasons"' not in render_html(taken, judge(taken))
