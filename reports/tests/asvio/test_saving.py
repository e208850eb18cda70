"""From a record to asv's files: which values, for which commit, and which are left out."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from asv.benchmarks import Benchmarks
from asv.config import Config as AsvConfig
from asv.results import iter_results
from fakes.records import FakeCell, always, o_proj_work, record

from solwatch.asvio.results import save_results
from solwatch.judge.judging import judge
from solwatch.model.cell import CellInfo
from solwatch.model.record import Record
from solwatch.sol.score import sol_limit

KEY = "o_proj.OProj(16, 'llama')"


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def suite_record(cells: list[FakeCell], **options: Any) -> Record:
    """Return a record whose infos say what discovery would say."""
    made = record(cells, rounds=6, **options)
    infos = [
        msgspec.structs.replace(
            info, benchmark="o_proj.OProj", params=info.key[info.key.index("(") + 1 : -1].split(", "),
            param_names=["tokens", "layer"], version="solwatch-protocol-1",
        ) if info.kind == "suite" else
        CellInfo(key=info.key, benchmark=info.key, params=[], param_names=[], kind="asv", unit="bytes",
                 version="abc", type="peakmemory")
        for info in made.header.cells
    ]  # fmt: skip
    return msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cells=infos))


def save(made: Record, folder: Path) -> list[str]:
    return save_results(made, judge(made), folder, write=put)


def results_of(folder: Path, sha: str) -> dict[str, list[Any]]:
    """Return the values of one commit as asv's commands see them, by benchmark."""
    conf = AsvConfig.from_json({"repo": ".", "results_dir": str(folder), "benchmark_dir": "."})
    benchmarks = Benchmarks.load(conf)
    for results in iter_results(str(folder)):
        if results.commit_hash == sha:
            return {
                name: results.get_result_value(name, benchmarks[name]["params"])
                for name in results.get_result_keys(benchmarks)
            }
    raise AssertionError(f"asv finds no results of {sha}")


def blocks(made: Record, side: str) -> Iterator[Any]:
    for one in made.rounds:
        for cell in one.cells:
            yield from getattr(cell, side).blocks


def test_both_commits_get_time_gap_and_energy(tmp_path: Path) -> None:
    work = o_proj_work(16, 4096, 4096)
    made = suite_record([FakeCell(key=KEY, base_s=20e-6, ratio=1.5, spread=0.0, work=work, energy_j=0.004)])
    assert save(made, tmp_path) == []
    assert made.header.base is not None
    base, head = (results_of(tmp_path, commit.sha) for commit in (made.header.base, made.header.head))
    assert base["o_proj.OProj.track_time"] == pytest.approx([20e-6], rel=0.02)
    assert head["o_proj.OProj.track_time"] == pytest.approx([30e-6], rel=0.02)
    limit = sol_limit(work, made.header.ceilings)
    assert limit is not None
    assert head["o_proj.OProj.track_sol_gap"][0] == pytest.approx(
        head["o_proj.OProj.track_time"][0] / limit.t_sol_s, rel=1e-6
    )
    assert head["o_proj.OProj.track_energy"] == pytest.approx([0.004], rel=0.05)


def test_one_sample_for_each_clean_block(tmp_path: Path) -> None:
    made = suite_record([FakeCell(key=KEY, work=o_proj_work(16, 4096, 4096), voided=frozenset({2}))])
    save(made, tmp_path)
    clean = sum(not block.voids for block in blocks(made, "head"))
    assert 0 < clean < len(list(blocks(made, "head")))
    (results,) = (each for each in iter_results(str(tmp_path)) if each.commit_hash == made.header.head.sha)
    (samples,) = results.get_result_samples("o_proj.OProj.track_time", [["16"], ["'llama'"]])
    assert len(samples) == clean


def test_a_run_of_head_alone(tmp_path: Path) -> None:
    made = suite_record([FakeCell(key=KEY, work=o_proj_work(16, 4096, 4096))], alone=True)
    save(made, tmp_path)
    assert [each.commit_hash for each in iter_results(str(tmp_path))] == [made.header.head.sha]


def test_an_ordinary_benchmark_keeps_its_own_name_and_unit(tmp_path: Path) -> None:
    made = suite_record([FakeCell(key="memory.peakmem_call", kind="asv", base_s=3e6, spread=0.0)])
    save(made, tmp_path)
    assert results_of(tmp_path, made.header.head.sha)["memory.peakmem_call"] == pytest.approx([3e6], rel=0.02)
    listed = msgspec.json.decode((tmp_path / "benchmarks.json").read_bytes())
    entry = listed["memory.peakmem_call"]
    assert (entry["unit"], entry["type"], entry["version"]) == ("bytes", "peakmemory", "abc")


def test_a_failed_side_is_failed_and_a_skipped_one_is_not(tmp_path: Path) -> None:
    made = suite_record([
        FakeCell(key="o_proj.OProj(1, 'llama')", head_failures=always("wrong", "off by one")),
        FakeCell(key="o_proj.OProj(16, 'llama')", head_failures=always("skipped", "no such device")),
    ])  # fmt: skip
    save(made, tmp_path)
    failed, skipped = results_of(tmp_path, made.header.head.sha)["o_proj.OProj.track_time"]
    assert failed is None
    assert skipped != skipped  # NaN, asv's mark of what was skipped


def test_void_measurements_and_working_trees_stay_out_of_history(tmp_path: Path) -> None:
    good = FakeCell(key="o_proj.OProj(1, 'llama')", work=o_proj_work(1, 4096, 4096))
    void = FakeCell(key="o_proj.OProj(16, 'llama')", voided=frozenset(range(100)))
    made = suite_record([good, void])
    save(made, tmp_path / "void")
    listed = msgspec.json.decode((tmp_path / "void" / "benchmarks.json").read_bytes())
    assert listed["o_proj.OProj.track_time"]["params"] == [["1"], ["'llama'"]]

    header = msgspec.structs.replace(made.header, head=msgspec.structs.replace(made.header.head, dirty=True))
    (warning,) = save(msgspec.structs.replace(made, header=header), tmp_path / "dirty")
    assert "working tree's times are not kept" in warning
    assert header.base is not None
    assert [each.commit_hash for each in iter_results(str(tmp_path / "dirty"))] == [header.base.sha]


def test_the_whole_grid_is_described_though_one_cell_was_measured(tmp_path: Path) -> None:
    made = suite_record([FakeCell(key=KEY, spread=0.0)])
    axes = [["1", "16"], ["'gpt'", "'llama'"]]
    cells = [msgspec.structs.replace(info, axes=axes) for info in made.header.cells]
    made = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cells=cells))
    save(made, tmp_path)
    times = results_of(tmp_path, made.header.head.sha)["o_proj.OProj.track_time"]
    # asv shows None as failed and NaN as not measured
    assert [time is None for time in times] == [False] * 4
    assert [math.isnan(time) for time in times] == [True, True, True, False]
