"""What every workflow promises in SECURITY.md, read from the files themselves."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))
ON_GPU = {("gate", "gate"), ("bisect", "bisect"), ("nightly", "measure")}
WRITING = {
    ("benchmark", "publish"): {"contents"},
    ("benchmark", "deploy"): {"pages", "id-token"},
    ("bisect", "tell"): {"issues"},
    ("comment", "comment"): {"pull-requests"},
    ("nightly", "changes"): {"contents"},
    ("nightly", "issues"): {"issues"},
    ("nightly", "bisect"): {"issues"},
}
HANDED_OVER = {"benchmark", "bisect", "gate", "nightly"}

Job = dict[str, Any]


def jobs() -> Iterator[tuple[str, str, Job]]:
    """Yield workflow, job and what the file says of it."""
    for path in FILES:
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            yield path.stem, name, job


JOBS = list(jobs())
EACH = pytest.mark.parametrize(("workflow", "name", "job"), JOBS, ids=[f"{one}-{two}" for one, two, _ in JOBS])


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_no_workflow_may_do_anything_by_itself_or_runs_foreign_code_with_a_token(path: Path) -> None:
    found = yaml.safe_load(path.read_text())
    assert found["permissions"] == {}
    assert "pull_request_target" not in found[True]  # YAML's idea of the key 'on'


@EACH
def test_a_job_has_a_time_limit_and_asks_for_what_it_may(workflow: str, name: str, job: Job) -> None:
    assert "permissions" in job
    assert ("timeout-minutes" in job) is ("uses" not in job)
    written = {scope for scope, level in job["permissions"].items() if level == "write"}
    assert written == WRITING.get((workflow, name), set())


@EACH
def test_actions_are_pinned_by_commit(workflow: str, name: str, job: Job) -> None:
    used = [step["uses"] for step in job.get("steps", []) if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z/-]+@[0-9a-f]{40}", one) for one in used)
    assert job.get("uses", "./.github/workflows/gate.yml").startswith("./.github/workflows/")


def test_a_gpu_job_has_no_secret_and_a_token_that_only_reads() -> None:
    elsewhere = {
        (workflow, name) for workflow, name, job in JOBS if "uses" not in job and job["runs-on"] != "ubuntu-latest"
    }
    assert elsewhere == ON_GPU
    for workflow, name, job in JOBS:
        if (workflow, name) in ON_GPU:
            assert job["permissions"] == {"contents": "read"}
            assert not re.search(r"secrets\.|github\.token|GITHUB_TOKEN", str(job))
            assert job["environment"]


@EACH
def test_nothing_is_taken_for_a_product_that_a_commit_brings_along(workflow: str, name: str, job: Job) -> None:
    steps = job.get("steps", [])
    for index, step in enumerate(steps):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
            if workflow in HANDED_OVER:
                assert index == 0, "whatever lies in build before is gone after"
                assert steps[1]["run"] == "rm -rf build"
    places = [
        step["with"]["path"]
        for step in steps
        if "uses" in step and "-artifact@" in step["uses"] and "path" in step["with"]
    ]
    in_tree = [path for where in places for path in where.splitlines() if not path.startswith("${{ runner.temp }}")]
    if any("checkout" in step.get("uses", "") for step in steps):
        assert all(path.split("/")[0] == "build" for path in in_tree)


def test_only_the_merge_queue_lets_pass_what_a_broken_runner_left_unmeasured() -> None:
    (step,) = [
        step
        for workflow, name, job in JOBS
        if (workflow, name) == ("benchmark", "verdict")
        for step in job["steps"]
        if step.get("id") == "verdict"
    ]
    event, queue, otherwise = re.fullmatch(
        r"\$\{\{ github\.event_name == '(\w+)' && \((.*)\) \|\| '(\w+)' \}\}", step["env"]["UNMEASURED"]
    ).groups()  # type: ignore[union-attr]
    assert (event, queue, otherwise) == ("merge_group", "vars.SOLWATCH_MERGE_QUEUE || 'pass'", "fail")
    told = dict(re.findall(r'--job "(\w+)=\$(\w+)"', step["run"]))
    assert {job: step["env"][variable] for job, variable in told.items()} == {
        job: f"${{{{ needs.{job}.result }}}}" for job in ("gate", "again", "retry")
    }


def test_who_ends_the_gates_job_tells_the_gate(tmp_path: Path) -> None:
    (step,) = [
        step for workflow, _, job in JOBS if workflow == "gate" for step in job["steps"] if step.get("name") == "Gate"
    ]
    gate = tmp_path / "solwatch"
    gate.write_text(
        "#!/bin/sh\ntrap 'touch told; exit 130' TERM\ntouch began\nfor _ in $(seq 600); do sleep 0.05; done\n"
    )
    gate.chmod(0o755)
    (tmp_path / "step.sh").write_text(step["run"])
    variables = dict.fromkeys(step["env"], "x") | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with subprocess.Popen(["bash", "-e", "step.sh"], cwd=tmp_path, env=variables) as runner:
        deadline = time.monotonic() + 20
        while not (tmp_path / "began").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        runner.terminate()  # the shell that the runner started, and nobody else
        assert runner.wait(timeout=20) == 130
    assert (tmp_path / "told").exists()
