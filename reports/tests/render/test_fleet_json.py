"""The matrix of a workflow's jobs, and the schema of ``fleet.json``."""

import json
from pathlib import Path

import jsonschema
import pytest
from fakes.fleets import CPU_ENTRY, H200_ENTRY, runner

from solwatch.model.fleet import Runner
from solwatch.render.fleet import published_schema, render_matrix, schema_text

COMMAND = "python -m solwatch.render.fleet > reports/solwatch/render/schema/fleet.schema.json"
ROOT = Path(__file__).parents[3]


def test_a_job_for_each_runner_in_their_order() -> None:
    cpu = Runner(name="cpu", labels=["ubuntu-latest"], ephemeral=False, limit_min=15)
    many = runner(name="h200-x8", gpu_count=8, architectures=["9.0a", "8.0"], price_usd_per_h=32.0)
    text = render_matrix([runner(), many, cpu])
    assert "\n" not in text
    assert json.loads(text) == {
        "include": [
            {
                "name": "h200",
                "labels": ["self-hosted", "gpu-h200"],
                "device": "cuda",
                "device_option": "--device=cuda",
                "architectures": "9.0a",
                "ephemeral": True,
                "limit_min": 30,
            },
            {
                "name": "h200-x8",
                "labels": ["self-hosted", "gpu-h200"],
                "device": "cuda",
                "device_option": "--gpus=all",
                "architectures": "8.0;9.0a",
                "ephemeral": True,
                "limit_min": 30,
            },
            {
                "name": "cpu",
                "labels": ["ubuntu-latest"],
                "device": "cpu",
                "device_option": "--device=cpu",
                "architectures": "",
                "ephemeral": False,
                "limit_min": 15,
            },
        ]
    }


def test_the_published_schema_is_up_to_date() -> None:
    assert published_schema() == schema_text(), f"the types have changed; publish them with: {COMMAND}"


def test_fleets_obey_it_and_mistakes_do_not() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(published_schema()))
    check = jsonschema.Draft202012Validator(json.loads(published_schema()))
    check.validate(json.loads((ROOT / ".github" / "fleet.json").read_text(encoding="utf-8")))
    check.validate({"runners": [dict(H200_ENTRY), dict(CPU_ENTRY)]})
    for entry in ({**H200_ENTRY, "lables": []}, {**H200_ENTRY, "name": "h200\n"}, {**H200_ENTRY, "gpu_count": 0}):
        with pytest.raises(jsonschema.ValidationError):
            check.validate({"runners": [entry]})
