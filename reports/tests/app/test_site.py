"""The site of a project: asv's regressions, pages of gates, limits, and libraries put beside."""

import hashlib
import json
import math
import os
import tarfile
from pathlib import Path

import pytest
from fakes.hostile import ATTACKS
from fakes.records import H200_CEILINGS, FakeCell, o_proj_work, record
from fakes.sites import Commit, publish, site_project, steps

from solwatch.app.gate_pages import FOLDER, RECORDS, complete_pages, kept_pages
from solwatch.app.keeping import keep
from solwatch.app.limits import LIMITS, joined_limits, keep_limits, kept_limits, limit_rows
from solwatch.app.site import make_site
from solwatch.asvio.offline import LIBRARIES, put_beside
from solwatch.judge.judging import judge
from solwatch.model.cell import CellInfo
from solwatch.model.errors import MachineError, NothingMeasuredError, RequestError
from solwatch.model.history import LimitRow
from solwatch.workspace.git import Repository
from solwatch.workspace.npm import Packages
from solwatch.workspace.records import RecordWriter

CELLS = [FakeCell(key="o_proj.OProj", ratio=1.05, work=o_proj_work(1, 64, 64))]
SLOWER, FASTER, STEADY = 0, 1, 2
COUNT = 24


def planted(folder: Path) -> Path:
    """Return a project in which one cell got 12 % slower, one 12 % faster, and one stayed."""
    series = {
        SLOWER: steps((12, 1.5), (12, 1.68), seed=1),
        FASTER: steps((12, 1.68), (12, 1.5), seed=2),
        STEADY: steps((24, 1.5), seed=3),
    }
    commits = [Commit(f"commit {at}") for at in range(COUNT)]
    return site_project(
        folder, commits, lambda at, cell: series.get(cell, series[STEADY])[at], layers=["llama-3-8b", "gpt-oss"]
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_regressions_are_what_got_slower_in_time_and_gap_and_nothing_else(tmp_path: Path, home: Path) -> None:
    project = planted(tmp_path / "project")
    publish(project, home=home)
    html = project / "build/asv/html"
    found = json.loads((html / "regressions.json").read_text())["regressions"]
    assert sorted(name for name, *_ in found) == [
        "o_proj.OProj.track_sol_gap(1, 'llama-3-8b')",
        "o_proj.OProj.track_time(1, 'llama-3-8b')",
    ]
    for *_, last, best, jumps in found:
        assert last / best == pytest.approx(1.12, rel=0.01)
        assert [jump[1] for jump in jumps] == [COUNT // 2]
    (card,) = json.loads((html / "speedoflight.json").read_text())["cards"]
    changes = {cell["name"]: cell["changes"] for cell in card["cells"]}
    (slower,), (faster,) = changes["o_proj.OProj(1, 'llama-3-8b')"], changes["o_proj.OProj(1, 'gpt-oss')"]
    assert (slower["good"], slower["bad"]) == (faster["good"], faster["bad"]) == (11, 12)
    assert slower["after"] < slower["before"]
    assert faster["after"] > faster["before"]
    graphs = {path.stem for path in html.glob("graphs/**/*.json")}
    assert {"o_proj.OProj.track_time", "o_proj.OProj.track_sol_gap"} <= graphs


def test_hostile_subjects_and_authors_are_data(tmp_path: Path, home: Path) -> None:
    commits = [
        Commit(attack.replace("\n", " ").replace("\r", " ") or "x", "Ada &lt;img src=x onerror=alert(1)&gt;")
        for attack in ATTACKS
    ]
    project = site_project(tmp_path / "project", commits, lambda at, cell: 1.5)
    publish(project, home=home)
    html = project / "build/asv/html"
    subjects = json.loads((html / "speedoflight.json").read_text())["subjects"]
    assert len(subjects) == len(commits)
    assert "onerror=alert" not in (html / "index.html").read_text()
    assert not any("\x1b" in subject or "\u202e" in subject for subject, _ in subjects.values())


def put_record(folder: Path, name: str) -> None:
    taken = record(CELLS, rounds=6)
    with RecordWriter.create(folder / RECORDS / f"{name}.jsonl", taken.header) as writer:
        for completed in taken.rounds:
            writer.append(completed)


def test_pages_of_gates_are_kept_and_those_that_lack_are_made(tmp_path: Path, home: Path) -> None:
    taken = record(CELLS, rounds=12)
    assert keep(taken, judge(taken), tmp_path, tmp_path / "20260304T050000-a.jsonl").warnings == []
    records = tmp_path / "build/solwatch"
    put_record(records, "20260305T050000-b")
    (records / RECORDS / "20260306T050000-c.jsonl").write_text("{\n")
    said: list[str] = []
    assert complete_pages(records, said.append) == 1
    assert ["20260306T050000-c.jsonl" in line for line in said] == [True]
    assert complete_pages(records, said.append) == 0
    (records / FOLDER / "20260307T050000-d.json").write_text('{"page": "../../etc/passwd"}')
    runs = list(kept_pages(records))
    assert [run.page for run, _ in runs] == ["20260305T050000-b.html", "20260304T050000-a.html"]
    assert runs[1][0].state == "fail"
    assert "slower" in runs[1][0].verdict
    assert "<!doctype html>" in runs[1][1].read_text().lower()
    (row,) = kept_limits(tmp_path / "build/asv/results")
    assert (row.benchmark, row.model, row.peak_flops) == ("o_proj.OProj", "NVIDIA H200", 1070e12)


def limit(taken_at: str, flops: float) -> LimitRow:
    cell = CellInfo(key="a", benchmark="a", params=[], param_names=[], kind="suite")
    work = o_proj_work(1, 64, 64)
    (row,) = limit_rows([cell], {"a": work}, H200_CEILINGS, machine="m", model="H200", taken_at=taken_at)
    return LimitRow(**{name: getattr(row, name) for name in row.__struct_fields__} | {"flops": flops})


def test_of_limits_the_newest_is_kept_whatever_the_order(tmp_path: Path) -> None:
    old, new = limit("2026-01-01", 1.0), limit("2026-02-01", 2.0)
    assert joined_limits([old], [new]) == joined_limits([new], [old]) == [new]
    keep_limits(tmp_path, [new])
    keep_limits(tmp_path, [old])
    assert kept_limits(tmp_path) == [new]
    (tmp_path / LIMITS).write_text("{}\n")
    with pytest.raises(RequestError, match=r"line 1 is not a LimitRow.*move it away"):
        kept_limits(tmp_path)
    cell = CellInfo(key="a", benchmark="a", params=[], param_names=[], kind="suite")
    assert limit_rows([cell], {}, H200_CEILINGS, machine="m", model="H200", taken_at="") == []


def test_a_repository_without_a_suite_or_results_is_one_clear_line(tmp_path: Path, home: Path) -> None:
    project = site_project(tmp_path / "project", [Commit("first")], lambda at, cell: math.nan)
    repository = Repository.open(project)
    (project / "build/asv/results/benchmarks.json").unlink()
    with pytest.raises(NothingMeasuredError, match="has no results"):
        make_site(repository, offline=False, say=print)
    (project / "asv.conf.json").write_text("{")
    with pytest.raises(RequestError, match=r"asv\.conf\.json can't be read by asv"):
        make_site(repository, offline=False, say=print)
    (project / "asv.conf.json").unlink()
    with pytest.raises(RequestError, match=r"has no asv\.conf\.json"):
        make_site(repository, offline=False, say=print)


def test_libraries_that_cannot_be_had_stay_where_they_were_and_are_named(tmp_path: Path) -> None:
    known, other = LIBRARIES[0], "https://example.org/x.js"
    page = (
        f'<script src="{known.address}" integrity="sha256-a" crossorigin="anonymous"></script>'
        f'<script src="{other}"></script>'
    )
    (tmp_path / "index.html").write_text(page)

    def refuse(library: object) -> bytes:
        raise MachineError("jquery@3.3.1: npm is not installed")

    missing = put_beside(tmp_path, refuse)
    assert missing == ["jquery@3.3.1: npm is not installed", f"{other}: no package is known that has it"]
    assert (tmp_path / "index.html").read_text() == page
    assert put_beside(tmp_path, lambda library: b"code") == missing[1:]
    changed = (tmp_path / "index.html").read_text()
    assert '<script src="libraries/jquery@3.3.1/jquery.min.js"></script>' in changed
    assert (tmp_path / "libraries/jquery@3.3.1/jquery.min.js").read_bytes() == b"code"


NPM = """#!/bin/sh
echo "$@" >> "{log}"
[ -f "{archive}" ] || exit 1
while [ $# -gt 1 ]; do [ "$1" = --pack-destination ] && folder=$2; shift; done
cp "{archive}" "$folder/"
"""


def test_a_file_of_a_package_is_believed_by_its_digest_and_had_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, archive = b"code", tmp_path / "toy-1.tgz"
    (tmp_path / "x.js").write_bytes(content)
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(NPM.format(log=tmp_path / "log", archive=archive))
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}{os.pathsep}{os.environ['PATH']}")
    digest = hashlib.sha256(content).hexdigest()
    with pytest.raises(MachineError, match="toy@1: npm could not get it"):
        Packages(tmp_path / "cache").file("toy@1", "x.js", digest)
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(tmp_path / "x.js", "package/x.js")
    packages = Packages(tmp_path / "cache")
    with pytest.raises(MachineError, match="its digest differs"):
        packages.file("toy@1", "x.js", "0" * 64)
    with pytest.raises(MachineError, match=r"it has no y\.js"):
        Packages(tmp_path / "cache").file("toy@1", "y.js", digest)
    assert packages.file("toy@1", "x.js", digest) == content
    archive.unlink()
    assert Packages(tmp_path / "cache").file("toy@1", "x.js", digest) == content
    (tmp_path / "cache" / digest).write_bytes(b"changed")
    with pytest.raises(MachineError, match="npm could not get it"):
        Packages(tmp_path / "cache").file("toy@1", "x.js", digest)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MachineError, match="npm is not installed"):
        Packages(tmp_path / "cache").file("toy@1", "x.js", digest)
