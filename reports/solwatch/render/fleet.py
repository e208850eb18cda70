"""The fleet as JSON: the matrix of a workflow's jobs, and the published schema of ``fleet.json``."""

import json
import sys
from collections.abc import Sequence
from importlib import resources

import msgspec

from solwatch.model.architecture import build_list
from solwatch.model.fleet import Fleet, Runner

SCHEMA_FILE = "fleet.schema.json"


def render_matrix(runners: Sequence[Runner]) -> str:
    """Return the value of ``strategy.matrix``, on one line: one job for each of ``runners``, in their order."""
    jobs = [
        {
            "name": runner.name,
            "labels": runner.labels,
            "device": _device(runner),
            "device_option": _device_option(runner),
            "architectures": build_list(runner.architectures),
            "ephemeral": runner.ephemeral,
            "limit_min": runner.limit_min,
        }
        for runner in runners
    ]
    return json.dumps({"include": jobs}, separators=(",", ":"))


def render_devices(runners: Sequence[Runner]) -> str:
    """Return what builds are needed for, each device once: ``cuda``, ``cpu`` or ``cuda cpu``."""
    return " ".join(dict.fromkeys(_device(runner) for runner in runners))


def _device(runner: Runner) -> str:
    """Return what kernels are built for, as ``solwatch build --device`` takes it."""
    return "cpu" if runner.gpu is None else "cuda"


def _device_option(runner: Runner) -> str:
    """Return where the gate measures on this runner, as one word of its command line."""
    if runner.gpu is None:
        return "--device=cpu"
    return "--gpus=all" if runner.gpu_count > 1 else "--device=cuda"


def schema_text() -> str:
    """Return the JSON schema (draft 2020-12) of ``fleet.json``, made from its types, as it is published."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:solwatch:fleet:1",
        "title": "solwatch fleet",
        **msgspec.json.schema(Fleet),
    }
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def published_schema() -> str:
    """Return the schema file that is installed with the package."""
    return resources.files("solwatch.render").joinpath("schema").joinpath(SCHEMA_FILE).read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(schema_text())
