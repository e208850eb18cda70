"""The JSON report obeys the published schema, and the published schema is the types'."""

import json
import math

import jsonschema
import msgspec
import pytest
from fakes.golden import assert_golden
from fakes.gpu_run import gpu_record
from fakes.records import FakeCell, record

from solwatch.judge.judging import judge
from solwatch.model.record import Record
from solwatch.render.json import ReportDocument, render_json
from solwatch.render.schemas import DOCUMENTS, published_schema, schema_text

COMMAND = "python -m solwatch.render.schemas {0} > reports/solwatch/render/schema/{0}.schema.json"


def document(taken: Record) -> bytes:
    return render_json(taken, judge(taken))


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_the_published_schema_is_up_to_date(name: str) -> None:
    said = f"the types have changed; publish them with: {COMMAND.format(name)}"
    assert published_schema(name) == schema_text(name), said


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_the_schema_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(published_schema(name)))


@pytest.mark.parametrize(
    "taken",
    [
        gpu_record(),
        gpu_record(alone=True, rounds=3),
        record([FakeCell(key="a")], rounds=0, stopped=None),
        record([FakeCell(key="wild", spread=300.0)], rounds=2),
    ],
    ids=["gate", "alone", "empty", "wild"],
)
def test_reports_obey_it(taken: Record) -> None:
    jsonschema.Draft202012Validator(json.loads(published_schema())).validate(json.loads(document(taken)))


def test_a_report_without_its_verdicts_does_not_obey_it() -> None:
    broken = json.loads(document(gpu_record()))
    del broken["judgement"]["verdicts"]
    with pytest.raises(jsonschema.ValidationError, match="verdicts"):
        jsonschema.Draft202012Validator(json.loads(published_schema())).validate(broken)


def test_reads_back_as_what_was_judged() -> None:
    taken = gpu_record()
    found = msgspec.json.decode(document(taken), type=ReportDocument)
    assert found.judgement == judge(taken)
    assert found.header == taken.header


def test_holds_no_number_that_json_does_not_know() -> None:
    def refuse(name: str) -> float:
        raise AssertionError(f"{name} is not JSON")

    taken = record([FakeCell(key="wild", spread=300.0)], rounds=2)
    found = json.loads(document(taken), parse_constant=refuse)
    high = found["judgement"]["verdicts"][0]["slowdown_ratio"]["high"]
    assert high is None or math.isfinite(high)


def test_is_what_it_was() -> None:
    assert_golden("report.json", document(record([FakeCell(key="a", ratio=1.1)], rounds=2)).decode())


def test_keeps_rounds_but_not_samples() -> None:
    found = json.loads(document(gpu_record()))
    facts = next(iter(found["judgement"]["facts"].values()))
    assert len(facts["rounds"]) == 16
    assert "samples_s" not in json.dumps(found)
