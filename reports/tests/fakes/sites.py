"""Projects with a history of results, made fast enough for thousands of commits, and published by asv itself."""

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asv.benchmarks import Benchmarks
from asv.results import Results
from fakes.records import H200_CEILINGS, o_proj_work

from solwatch.app.limits import keep_limits
from solwatch.model.history import LimitRow

DAY_S = 86_400
SECOND_S = 1_750_000_000
"""Date of the first commit."""

LAYERS = {
    "llama-3-8b": 4096,
    "qwen2.5-7b": 3584,
    "gpt-oss": 2880,
    "jamba-3b": 2560,
    "llama-3-70b": 8192,
    "deepseek-v3": 7168,
}
TOKENS = (1, 16, 64, 256, 1024, 2048, 4096, 8192)
NAME = "o_proj.OProj"

CONFIGURATION = {
    "version": 1,
    "project": "toy",
    "repo": ".",
    "branches": ["HEAD"],
    "plugins": [".solwatch.asv_plugin"],
    "benchmark_dir": "benchmarks",
    "results_dir": "build/asv/results",
    "html_dir": "build/asv/html",
}

GapOf = Callable[[int, int], float]
"""Commit's place in the history and cell's, to T / T_SOL; NaN: not measured."""


@dataclass(frozen=True)
class Commit:
    """What git is to say of a commit."""

    subject: str
    author: str = "Ada"


def site_project(
    folder: Path,
    commits: Sequence[Commit],
    gap: GapOf,
    *,
    layers: Sequence[str] = ("llama-3-8b", "gpt-oss"),
    tokens: Sequence[int] = TOKENS[:2],
    param: str = "layer",
    machines: Sequence[str] = ("gpu-runner",),
) -> Path:
    """Return a repository of ``commits``, a day apart, whose results have ``gap`` in every cell, and asv's settings."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input=_stream(commits), check=True)
    subprocess.run(["git", "-C", str(folder), "reset", "-q", "--hard", "main"], check=True)
    (folder / "asv.conf.json").write_text(json.dumps(CONFIGURATION))
    results = folder / "build/asv/results"
    results.mkdir(parents=True)
    params = [[repr(each) for each in tokens], [repr(each) for each in layers]]
    listed = {name: _listed(name, unit, params, param) for name, unit in _TRACKS.items()}
    (results / "benchmarks.json").write_text(json.dumps(listed | {"version": Benchmarks.api_version}))
    shas = subprocess.run(
        ["git", "-C", str(folder), "rev-list", "--reverse", "main"], check=True, capture_output=True, text=True
    ).stdout.split()
    rows = []
    for machine in machines:
        (results / machine).mkdir()
        about = {"machine": machine, "os": "Linux", "arch": "x86_64", "cpu": "c", "num_cpu": "16", "ram": "1"}
        (results / machine / "machine.json").write_text(json.dumps(about | {"version": 1}))
        work = [o_proj_work(int(each), *2 * [LAYERS.get(layer, 4096)]) for each in tokens for layer in layers]
        rows += [_limits(machine, params, at, one) for at, one in enumerate(work)]
        floors = [max(row.flops / row.peak_flops, row.traffic_bytes / row.peak_bandwidth) for row in rows[-len(work) :]]
        for at, sha in enumerate(shas):
            gaps = [gap(at, cell) for cell in range(len(floors))]
            _save(
                results,
                about,
                sha,
                at,
                listed,
                [gaps, [each * floor for each, floor in zip(gaps, floors, strict=True)]],
            )
    keep_limits(results, rows)
    return folder


def steps(*levels: tuple[int, float], noise: float = 0.002, seed: int = 1) -> list[float]:
    """Return successive values: so many at each level, with noise."""
    dice = random.Random(seed)
    return [level * math.exp(dice.gauss(0, noise)) for count, level in levels for _ in range(count)]


def publish(project: Path, *, home: Path, environment: dict[str, str] | None = None) -> str:
    """Run ``asv publish`` in ``project``; return what it said."""
    told = os.environ | {"HOME": str(home), "PYTHONPATH": ""} | (environment or {})
    done = subprocess.run(
        [sys.executable, "-m", "asv", "publish"],
        cwd=project, env=told, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


_TRACKS = {f"{NAME}.track_sol_gap": "T/T_SOL", f"{NAME}.track_time": "seconds"}


def _listed(name: str, unit: str, params: list[list[str]], param: str) -> dict[str, Any]:
    return {
        "code": "", "name": name, "params": params, "param_names": ["tokens", param],
        "type": "time", "unit": unit, "version": "1",
    }  # fmt: skip


def _limits(machine: str, params: list[list[str]], at: int, work: Any) -> LimitRow:
    bandwidth = H200_CEILINGS.rated_bandwidth
    assert bandwidth is not None
    return LimitRow(
        taken_at="2026-03-04T05:00:00Z",
        machine=machine,
        model="NVIDIA H200",
        benchmark=NAME,
        params=[params[0][at // len(params[1])], params[1][at % len(params[1])]],
        flops=work.flops,
        traffic_bytes=work.traffic_bytes,
        dtype=work.dtype,
        kind="rated",
        peak_flops=H200_CEILINGS.rated_flops[work.dtype],
        peak_bandwidth=bandwidth,
        sustained_flops=H200_CEILINGS.sustained_flops[work.dtype],
        sustained_bandwidth=H200_CEILINGS.sustained_bandwidth,
    )


def _save(results: Path, about: dict[str, str], sha: str, at: int, listed: Any, columns: list[list[float]]) -> None:
    made = Results(about | {"python": "3.11"}, {}, sha, (SECOND_S + at * DAY_S) * 1000, "3.11", "solwatch-py3.11", {})
    rows = {}
    for (name, benchmark), values in zip(listed.items(), columns, strict=True):
        failed = [None if math.isnan(value) else value for value in values]
        rows[name] = [failed, benchmark["params"], "1", (SECOND_S + at * DAY_S) * 1000, 1.0]
    document = {
        "commit_hash": sha, "env_name": made.env_name, "date": made.date, "params": made.params, "python": "3.11",
        "requirements": {}, "env_vars": {}, "durations": {}, "version": Results.api_version,
        "result_columns": ["result", "params", "version", "started_at", "duration"], "results": rows,
    }  # fmt: skip
    (results / about["machine"] / f"{sha[:8]}-{made.env_name}.json").write_text(json.dumps(document))


def _stream(commits: Sequence[Commit]) -> bytes:
    parts = []
    for at, commit in enumerate(commits):
        author = f"{commit.author} <a@example.org> {SECOND_S + at * DAY_S} +0000".encode()
        message = commit.subject.encode(errors="surrogateescape")
        parts.append(
            b"commit refs/heads/main\nauthor %s\ncommitter %s\ndata %d\n%s\n" % (author, author, len(message), message)
        )
        parts.append(b"M 100644 inline n\ndata %d\n%d\n" % (len(str(at)), at))
    return b"".join(parts)
