"""JUnit XML: golden, by the schema that its readers share, counted right, harmless."""

from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from fakes.golden import assert_golden
from fakes.gpu_run import gpu_record
from fakes.hostile import ATTACKS
from fakes.records import FakeCell, always, record

from solwatch.judge.judging import judge
from solwatch.model.config import Config
from solwatch.model.plain import plain
from solwatch.model.record import Record
from solwatch.render.junit import render_junit

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).parent / "junit.xsd"))


def junit(taken: Record) -> bytes:
    found = render_junit(taken, judge(taken))
    SCHEMA.validate(BytesIO(found))
    return found


def kinds(taken: Record) -> dict[str, str]:
    """Return what each case came to; an empty text is a pass."""
    cases = ElementTree.fromstring(junit(taken)).iter("testcase")
    return {
        case.get("name", ""): next((child.tag for child in case if child.tag != "system-out"), "") for case in cases
    }


def test_is_what_it_was() -> None:
    assert_golden("gate-junit.xml", junit(gpu_record(layers=2)).decode())


@pytest.mark.parametrize(
    "taken", [gpu_record(), gpu_record(alone=True, rounds=3), record([])], ids=["gate", "alone", "-"]
)
def test_obeys_the_schema_and_counts_what_it_holds(taken: Record) -> None:
    root = ElementTree.fromstring(junit(taken))
    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(root.get(name, "-1")) == len(list(root.iter(tag))) == int(root[0].get(name, "-1"))


def test_each_verdict_has_its_outcome() -> None:
    cells = [
        FakeCell(key="slower", ratio=1.1),
        FakeCell(key="fine"),
        FakeCell(key="broken", head_failures=always("raised", "no")),
        FakeCell(key="void", voided=frozenset(range(16))),
        FakeCell(key="noisy", spread=0.2),
        FakeCell(key="peer", gated=False, ratio=1.5),
    ]
    expected = {"slower": "failure", "fine": "", "broken": "error", "void": "error", "noisy": "skipped"}
    assert kinds(record(cells)) | {"null_kernel": ""} == expected | {"null_kernel": ""}
    assert kinds(record(cells, config=Config(undecided="fail")))["noisy"] == "failure"


def test_hostile_names_and_messages_are_text() -> None:
    cells = [FakeCell(key=f"{attack}]]>\x00{index}", ratio=1.2) for index, attack in enumerate(ATTACKS)]
    cells.append(FakeCell(key="fails", head_failures=always("raised", "]]>\x1b" + "".join(ATTACKS))))
    found = kinds(record(cells, rounds=12))
    assert {plain(cell.key) for cell in cells} <= set(found)
