"""No text from outside, wherever in a record it stands, reaches a reader with control or direction characters."""

import enum
import json
from datetime import date
from typing import Any

import msgspec
import pytest
from fakes.gpu_run import gpu_record
from fakes.reasons import called, code, launch, profiles, why_of, with_calls
from fakes.records import CPU, CPU_CEILINGS, FakeCell, acceptance, accepting, always, o_proj_work, record

from solwatch.judge.judging import judge
from solwatch.model.finding import Finding, Status
from solwatch.model.plain import hidden
from solwatch.model.record import Environment, Record
from solwatch.model.reference import Reference
from solwatch.model.why import Profile
from solwatch.render.accepted import render_acceptance
from solwatch.render.annotations import render_annotations
from solwatch.render.ceilings import render_ceilings
from solwatch.render.doctor import render_findings
from solwatch.render.html import render_html
from solwatch.render.json import render_json
from solwatch.render.summary import render_summary
from solwatch.render.terminal import render_terminal

EVIL = "\x1b[31m\x7f\x07\x9b2J\u202e\u200f\u2066\u200b\U000e0041"

SLOW = "o_proj.OProj(1, 'llama-3-8b')"
COUNTED = Profile(kernel="k", dram_share=0.5, stalls={"wait": 1.0})
EXPLAINED = msgspec.structs.replace(
    with_calls(gpu_record(rounds=16), SLOW, called(launch(), tile="8×32"), called(launch(), tile="8×64")),
    why=why_of(
        SLOW,
        code(digest="c0de", local_store_bytes=8),
        code(),
        profiles={SLOW: profiles(COUNTED, COUNTED)},
        files={"Python sources": ["op.py"]},
        notes=["no ncu"],
    ),
)

RECORDS = {
    "gpu": gpu_record(),
    "explained": EXPLAINED,
    "alone": gpu_record(alone=True, rounds=3),
    "cpu": record(
        [
            FakeCell(key="a", work=o_proj_work(1, 4096, 4096), fallback="a CPU has none", ratio=2.0),
            FakeCell(key="mem", unit="bytes", kind="asv"),
            FakeCell(key="b", head_failures=always("raised", "no")),
            FakeCell(key="c", voided=frozenset(range(10))),
        ],
        fingerprint=CPU,
        ceilings=CPU_CEILINGS,
        notes=["extra does not import"],
    ),
}


def in_environments(taken: Record) -> Record:
    """Return ``taken`` as if its sides were environments that differ."""
    base = Environment(path="/envs/old", python="3.11", packages={"torch": "2.10"}, own=["fused_o_proj"])
    head = Environment(path="/envs/new", python="3.12", packages={"torch": "2.13", "numpy": "2"})
    header = msgspec.structs.replace(taken.header, base_env=base, head_env=head, base_fingerprint=CPU)
    return msgspec.structs.replace(taken, header=header)


def poisoned(value: Any) -> Any:
    """Return a copy in which every text ends in what must not be shown."""
    if isinstance(value, enum.Enum):
        return value
    if isinstance(value, str):
        return value + EVIL
    if isinstance(value, list):
        return [poisoned(each) for each in value]
    if isinstance(value, dict):
        return {poisoned(key): poisoned(each) for key, each in value.items()}
    if isinstance(value, msgspec.Struct):
        changed = {name: poisoned(getattr(value, name)) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **changed)
    return value


def seen(text: str) -> set[str]:
    return {char for char in text if hidden(char)} - {"\n"}


RECORDS["environments"] = in_environments(RECORDS["cpu"])
RECORDS["accepted"] = accepting(
    RECORDS["cpu"],
    acceptance("a", expires=date(2026, 3, 10)),
    acceptance("gone"),
    reference=Reference(setting="best", commit="c0ffee", why="the best segment"),
)


@pytest.mark.parametrize("taken", RECORDS.values(), ids=RECORDS)
def test_no_format_shows_it(taken: Record) -> None:
    judgement = poisoned(judge(taken))
    evil = poisoned(taken)
    assert seen(render_terminal(evil, judgement, width=200)) == set()
    assert seen(render_html(evil, judgement)) == set()
    assert seen(render_summary(evil, judgement)) == set()
    assert seen(render_annotations(evil, judgement)) == set()
    shown = render_json(evil, judgement).decode()
    assert seen(shown) == set()
    assert json.loads(shown)["header"]["head"]["subject"] == evil.header.head.subject, "escaped, not lost"


def test_neither_does_what_is_said_of_the_machine() -> None:
    evil = poisoned(RECORDS["gpu"].header)
    assert seen(render_ceilings(evil.fingerprint, evil.ceilings)) == set()
    finding = Finding(name="git", status=Status.FAIL, found=f"/a{EVIL}", fix=f"rm {EVIL}")
    assert seen(render_findings([finding])) == set()


def test_neither_does_what_is_said_of_an_acceptance() -> None:
    assert seen(render_acceptance(poisoned(acceptance()), "a.toml")) == set()
