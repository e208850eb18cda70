"""Whatever text stands in a record, each format holds its own markup and commands, and nobody else's."""

import base64
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

from fakes.hostile import texts
from fakes.records import FakeCell, always, commit, o_proj_work, record
from hypothesis import given, settings
from hypothesis import strategies as st

from solwatch.judge.judging import judge
from solwatch.model.plain import hidden
from solwatch.model.record import Record
from solwatch.render.annotations import render_annotations
from solwatch.render.html import render_html
from solwatch.render.json import render_json
from solwatch.render.junit import render_junit
from solwatch.render.terminal import render_terminal

BREAKS = [
    "</script><script>alert(1)</script>",
    "\u2028alert(1)\u2029",
    '"><svg onload=alert(1)>',
    "'-alert(1)-'",
    "</style><img src=x onerror=alert(1)>",
    "<!--",
    "]]>",
    "&lt;script&gt;",
    "{{ 7*7 }}{% raw %}",
    "javascript:alert(1)",
]
hostile = st.one_of(st.sampled_from(BREAKS), texts)
COMMAND = re.compile(r"::(error|warning|notice) title=[^:,\n]*::[^\n]*")


class Outline(HTMLParser):
    """Tags with the names of their attributes, and where links lead: what a page does, without what it says."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.script = ""
        self.inside = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        # A short name may stand on one line, a name that is empty has no option: neither is markup.
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href", "action")]

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.script += data


def taken(name: str, subject: str, message: str, parameter: str) -> Record:
    """Return a record with the four texts wherever text can stand."""
    cells = [
        FakeCell(key=f"a.B({parameter})", ratio=1.2, work=o_proj_work(1, 4096, 4096), fallback=message),
        FakeCell(key=f"c {parameter}", head_failures=always("raised", message, 6)),
        FakeCell(key="d", unit=parameter, kind="asv"),
    ]
    return record(
        cells, rounds=6, head=commit("4be1c0", name, subject), base=commit("9a7e5e", subject, name), notes=[message]
    )


def outline(found: Record) -> Outline:
    return Outline(render_html(found, judge(found)))


PLAIN = outline(taken("name", "subject", "message", "parameter"))


@settings(max_examples=20, deadline=None)
@given(hostile, hostile, hostile, hostile)
def test_the_page_has_no_tag_link_or_script_of_theirs(name: str, subject: str, message: str, parameter: str) -> None:
    found = taken(name, subject, message, parameter)
    page = outline(found)
    assert page.script == PLAIN.script
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in PLAIN.tags}
    assert {each for _, names in page.tags for each in names} <= {each for _, names in PLAIN.tags for each in names}
    assert all(re.fullmatch(r"#[a-z0-9-]+|data:application/json;base64,[A-Za-z0-9+/=]+", link) for link in page.links)
    (inside,) = [link for link in page.links if link.startswith("data:")]
    assert json.loads(base64.b64decode(inside.partition(",")[2]))["header"]["head"]["subject"] == subject


@settings(max_examples=40, deadline=None)
@given(hostile, hostile, hostile, hostile)
def test_neither_have_the_other_formats(name: str, subject: str, message: str, parameter: str) -> None:
    found = taken(name, subject, message, parameter)
    judgement = judge(found)
    assert all(COMMAND.fullmatch(line) for line in render_annotations(found, judgement).splitlines())
    shown = render_terminal(found, judgement, width=100)
    assert not {char for char in shown if hidden(char)} - {"\n"}
    assert json.loads(render_json(found, judgement))["header"]["base"]["subject"] == name
    root = ElementTree.fromstring(render_junit(found, judgement))
    assert len(root) == 1
    assert {each.tag for each in root[0]} == {"properties", "testcase"}
    assert len(root[0].findall("testcase")) == 4
