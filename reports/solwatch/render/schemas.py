"""The published schemas of the documents that commands write, made from their types.

``python -m solwatch.render.schemas NAME`` prints one.
"""

import json
import sys
from importlib import resources
from typing import Any

import msgspec

from solwatch.judge.calibration import Calibration
from solwatch.judge.selftest import Selftest
from solwatch.model.entry_verdict import EntryVerdict
from solwatch.model.joint_verdict import JointVerdict
from solwatch.render.json import SCHEMA_VERSION, BisectionDocument, ReportDocument

DOCUMENTS: dict[str, type[msgspec.Struct]] = {
    "report": ReportDocument,
    "selftest": Selftest,
    "calibration": Calibration,
    "bisection": BisectionDocument,
    "verdict": EntryVerdict,
    "joint": JointVerdict,
}
"""What each command writes, by the name of its schema."""


def document_schema(name: str) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of the document ``name``, made from its types."""
    generated = msgspec.json.schema(DOCUMENTS[name])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:solwatch:{name}:{SCHEMA_VERSION}",
        "title": f"solwatch {name}",
        **generated,
    }


def schema_text(name: str = "report") -> str:
    """Return a schema as it is published."""
    return json.dumps(document_schema(name), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def published_schema(name: str = "report") -> str:
    """Return a schema file that is installed with the package."""
    schemas = resources.files("solwatch.render").joinpath("schema")
    return schemas.joinpath(f"{name}.schema.json").read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(schema_text(*sys.argv[1:]))
