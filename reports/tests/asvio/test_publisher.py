import json
import shutil
import types
from pathlib import Path
from typing import Any

import asv
import pytest
from asv.benchmarks import Benchmarks
from asv.config import Config as AsvConfig
from asv.util import UserError

from solwatch.asvio.publisher import SpeedOfLight, tables
from solwatch.asvio.resultfiles import Description, Measured, Samples, Value, write_results

HOSTILE = "'</script><img src=x onerror=alert(1)>'"
SHAS = {name: name * 40 for name in "abc"}
REVISIONS = {SHAS["a"]: 10, SHAS["b"]: 12, SHAS["c"]: 15}


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def measured(folder: Path, sha: str, gaps: dict[tuple[str, ...], Value], machine: str = "runner") -> None:
    described = Description(
        name="o_proj.OProj.track_sol_gap",
        params=[["1", "16"], ["'llama'", HOSTILE]],
        param_names=["tokens", "layer"],
        type="time",
        unit="T/T_SOL",
        version="1",
    )
    about = Measured(machine={"machine": machine}, commit=sha, date_ms=0, python="3.11")
    write_results(folder, about, [described], {described.name: gaps}, write=put)


def found(folder: Path) -> list[dict[str, Any]]:
    conf = AsvConfig.from_json({"repo": ".", "results_dir": str(folder), "benchmark_dir": "."})
    return list(tables(folder, Benchmarks.load(conf), REVISIONS))


def test_rows_are_layers_and_cells_hold_their_history(tmp_path: Path) -> None:
    measured(tmp_path, SHAS["b"], {("1", "'llama'"): Samples([4.0]), ("16", HOSTILE): Samples([1.25])})
    measured(tmp_path, SHAS["a"], {("1", "'llama'"): Samples([2.0]), ("16", "'llama'"): None})
    measured(tmp_path, SHAS["c"], {("1", "'llama'"): Samples([2.5])}, machine="another")
    another, runner = found(tmp_path)
    assert (another["machine"], runner["machine"]) == ("another", "runner")
    assert (runner["title"], runner["row_name"], runner["column_name"]) == ("o_proj.OProj", "layer", "tokens")
    assert runner["columns"] == ["1", "16"]
    llama, hostile = runner["rows"]
    assert (llama["name"], hostile["name"]) == ("llama", HOSTILE[1:-1])
    assert llama["cells"] == [[(10, 0.5), (12, 0.25)], []]
    assert hostile["cells"] == [[], [(12, 0.8)]]
    assert another["rows"][0]["cells"][0] == [(15, 0.4)]


def test_commits_that_git_does_not_know_are_left_out(tmp_path: Path) -> None:
    measured(tmp_path, "d" * 40, {("1", "'llama'"): Samples([2.0])})
    assert found(tmp_path) == []


def test_a_benchmark_without_parameters_has_one_cell(tmp_path: Path) -> None:
    described = Description(
        name="op.track_sol_gap", params=[], param_names=[], type="time", unit="T/T_SOL", version="1"
    )
    about = Measured(machine={"machine": "runner"}, commit=SHAS["a"], date_ms=0, python="3.11")
    write_results(tmp_path, about, [described], {described.name: {(): Samples([1.6])}}, write=put)
    (table,) = found(tmp_path)
    assert table["rows"] == [{"name": "", "cells": [[(10, 0.625)]]}]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    shutil.copytree(Path(asv.__file__).parent / "www", tmp_path / "html")
    return tmp_path / "html"


def publish(results: Path, html: Path) -> None:
    conf = AsvConfig.from_json({"repo": ".", "results_dir": str(results), "benchmark_dir": "."})
    SpeedOfLight.publish(
        types.SimpleNamespace(html_dir=str(html), results_dir=str(results)),
        None,
        Benchmarks.load(conf),
        None,
        REVISIONS,
    )


def test_the_page_is_entered_into_asv_s_index(tmp_path: Path, site: Path) -> None:
    measured(tmp_path / "results", SHAS["a"], {("1", HOSTILE): Samples([2.0])})
    publish(tmp_path / "results", site)
    index = (site / "index.html").read_text()
    assert index.index('href="#/speedoflight"') < index.index('id="nav-li-graphdisplay"')
    assert index.count('<div id="speedoflight-display"') == 1
    assert index.index("asv.js") < index.index('src="speedoflight.js"') < index.index("</head>")
    assert "onerror=alert" not in index
    data = json.loads((site / "speedoflight.json").read_text())
    assert data["tables"][0]["rows"][1]["cells"][0] == [[10, 0.5]]


def test_the_script_writes_text_and_never_html(site: Path, tmp_path: Path) -> None:
    measured(tmp_path / "results", SHAS["a"], {("1", HOSTILE): Samples([2.0])})
    publish(tmp_path / "results", site)
    script = (site / "speedoflight.js").read_text()
    for way_in in ("innerHTML", "outerHTML", ".html(", ".append(", "insertAdjacent", "document.write", "eval"):
        assert way_in not in script
    assert "$.asv.register_page" in script
    assert (site / "speedoflight.css").exists()


def test_another_form_of_index_is_one_clear_error(tmp_path: Path, site: Path) -> None:
    measured(tmp_path / "results", SHAS["a"], {("1", "'llama'"): Samples([2.0])})
    (site / "index.html").write_text("<html><head></head></html>")
    with pytest.raises(UserError, match=r"can't be entered: asv's index.html has no single"):
        publish(tmp_path / "results", site)
    assert (site / "index.html").read_text() == "<html><head></head></html>"


@pytest.mark.parametrize("gap", ["9" * 400, '"text"', "[1]", "[" * 100_000])
def test_a_file_that_is_not_whole_is_left_out_and_named(
    tmp_path: Path, gap: str, caplog: pytest.LogCaptureFixture
) -> None:
    for name in "ab":
        measured(tmp_path, SHAS[name], {("1", "'llama'"): Samples([2.0])})
    [path] = (tmp_path / "runner").glob("aaaaaaaa-*.json")
    assert "[2.0, " in path.read_text()
    path.write_text(path.read_text().replace("[2.0, ", f"[{gap}, "))
    [runner] = found(tmp_path)
    assert runner["rows"][0]["cells"][0] == [(12, 0.5)]
    assert str(path) in caplog.text
