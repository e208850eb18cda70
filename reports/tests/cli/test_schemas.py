"""What ``ci gate`` and ``ci verdict`` really write obeys the published schemas."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from fakes.records import FakeCell, record
from fakes.verdicts import PLAN, kept, slower, verdict

from solwatch.app.outcome import Kept, Outcome
from solwatch.cli.main import outcome
from solwatch.judge.judging import judge
from solwatch.model.errors import MachineError
from solwatch.render.schemas import published_schema


def obeys(name: str, path: Path, *, needed: str) -> None:
    """Assert that ``path`` obeys the schema ``name``, and that it would not without the field ``needed``."""
    check = jsonschema.Draft202012Validator(json.loads(published_schema(name)))
    document = json.loads(path.read_text())
    check.validate(document)
    with pytest.raises(jsonschema.ValidationError, match=f"'{needed}' is a required property"):
        check.validate({field: value for field, value in document.items() if field != needed})
    with pytest.raises(jsonschema.ValidationError, match="5 is not one of"):
        check.validate(document | {"code": 5})


@pytest.mark.parametrize("end", ["slower", "unchanged", "no machine"])
def test_a_gates_verdict(project: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    def compare(request: object, services: object) -> Any:
        if end == "no machine":
            raise MachineError("torch finds no GPU")
        taken = record([FakeCell(key="o_proj.OProj(1)", ratio=1.2 if end == "slower" else 1.0)])
        files = Kept(report=Path("index.html"), record=Path("r.jsonl"), warnings=[])
        return Outcome(record=taken, judgement=judge(taken), kept=files)

    monkeypatch.setattr("solwatch.app.gate.compare", compare)
    assert outcome(["ci", "gate", "HEAD~1", "--entry", "h200"]) == 0
    found = json.loads((project / "build/verdict.json").read_text())
    assert found["word"] == {"slower": "fail", "unchanged": "pass", "no machine": "infrastructure"}[end]
    obeys("verdict", project / "build/verdict.json", needed="entry")


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4])
def test_a_joint_verdict(project: Path, code: int) -> None:
    cells = [slower()] if code == 1 else []
    kept(project / "all", verdict("h200", code, cells=cells), verdict("h200", 0, trial=2, gpus=["GPU-2"]))
    asked = ["--entry", "h200", "--entry", "lost", "--plan", msgspec.json.encode(PLAN).decode()]
    outcome(["ci", "verdict", "all", *asked, "--output", "joint.json"])
    assert len(json.loads((project / "joint.json").read_text())["entries"]) == 2
    obeys("joint", project / "joint.json", needed="text")
