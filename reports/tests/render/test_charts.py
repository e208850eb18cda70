"""Charts: what they are drawn from, and that they are drawn."""

import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from fakes.gpu_run import gpu_record
from fakes.records import CPU, CPU_CEILINGS, FakeCell, o_proj_work, record

from solwatch.judge.judging import judge
from solwatch.model.record import Record
from solwatch.render.charts import drawing, vega
from solwatch.render.charts.drawing import begin, drawing_beside, inlined
from solwatch.render.charts.figure import Figure
from solwatch.render.charts.figures import report_figures
from solwatch.render.charts.theme import LIGHT, NAMED, unique, variables
from solwatch.render.pictures import render_pictures
from solwatch.render.view import report_view


def figures(taken: Record) -> dict[str, Figure]:
    view = report_view(taken, judge(taken))
    return {figure.anchor: figure for figure in report_figures(view, taken.header.ceilings, LIGHT)}


def drawn_values(figure: Figure, layer: int) -> list[dict[str, object]]:
    part = figure.spec["layer"][layer]
    return list(part.get("data", figure.spec.get("data"))["values"])


def test_the_forest_has_a_line_for_each_compared_cell_in_the_table_s_order() -> None:
    found = figures(gpu_record())["forest"]
    values = drawn_values(found, 5)
    assert len(values) == len(found.rows) == 23
    assert values[0]["name"] == found.rows[0][0] == "o_proj.OProj(1, 'llama-3-8b')"
    assert all(value["low"] <= value["at"] <= value["high"] for value in values)
    assert len(drawn_values(found, 3)) == sum(int(row[4]) for row in found.rows), "a tick for each round"


def test_what_is_far_off_is_at_the_edge_and_squashes_nothing() -> None:
    found = figures(record([FakeCell(key="a", ratio=8.0), FakeCell(key="b")]))["forest"]
    first = drawn_values(found, 5)[0]
    reach = found.spec["layer"][0]["encoding"]["x"]["scale"]["domain"][1]
    assert first["at"] == reach < 20
    assert "beyond the scale" in found.caption
    assert found.rows[0][2] == "8.00×"


def test_the_scale_reaches_to_what_is_far_off_when_that_is_no_exception() -> None:
    slow = [FakeCell(key=f"slow {index}", ratio=1.3 + index / 10) for index in range(3)]
    found = figures(record([*slow, FakeCell(key="far", ratio=9.0), FakeCell(key="b")], rounds=12))["forest"]
    reach = found.spec["layer"][0]["encoding"]["x"]["scale"]["domain"][1]
    at = {str(value["name"]): float(str(value["at"])) for value in drawn_values(found, 5)}
    assert 45 < at["slow 2"] < reach < 200
    assert at["far"] == pytest.approx(reach)


def test_the_roofline_joins_base_and_head_below_the_roofs() -> None:
    found = figures(gpu_record())["roofline"]
    values = drawn_values(found, 1)
    assert all(value["base"] is None or value["base"] > 0 for value in values)
    worst = next(value for value in values if value["verdict"] == "slower")
    assert worst["head"] < worst["base"] < 1070e12
    assert worst["way"] == "down"
    assert next(value for value in values if value["verdict"] == "faster")["way"] == "up"
    assert {value["way"] for value in values if value["verdict"] == "unchanged"} == {None}, "noise has no direction"
    shapes = found.spec["layer"][-1]["encoding"]["shape"]["scale"]["range"]
    assert not {"triangle-up", "triangle-down"} & set(shapes), "an arrow says which way, and slower is down here"
    roofs = {value["roof"] for value in drawn_values(found, 0)}
    assert {roof.partition(":")[0] for roof in roofs} == {"rated", "sustained"}


def test_an_arrow_leads_from_base_to_head_in_svg_and_png() -> None:
    found = figures(gpu_record(layers=1))["roofline"]
    ways = [value["way"] for value in drawn_values(found, 1)]
    without = replace(found, spec=msgspec.json.decode(msgspec.json.encode(found.spec)))
    heads = [layer for layer in without.spec["layer"] if "triangle" in str(layer["mark"].get("shape"))]
    assert [layer["mark"]["shape"] for layer in heads] == ["triangle-down", "triangle-up"]
    without.spec["layer"] = [layer for layer in without.spec["layer"] if layer not in heads]
    (_, drawn), (_, bare) = begin("svg", [found, without])()
    assert drawn.count(b"<path") - bare.count(b"<path") == ways.count("down") + ways.count("up") > 0
    (_, drawn), (_, bare) = begin("png", [found, without])()
    assert drawn != bare


def test_a_cell_that_beats_a_measured_roof_is_on_the_chart() -> None:
    cells = [FakeCell(key="a", work=o_proj_work(1, 4096, 4096, "float32"), base_s=1e-5)]
    found = figures(record(cells, fingerprint=CPU, ceilings=CPU_CEILINGS))["roofline"]
    top = found.spec["layer"][0]["encoding"]["y"]["scale"]["domain"][1]
    assert max(value["y"] for value in drawn_values(found, 0)) < drawn_values(found, 1)[0]["head"] < top


def test_the_heat_map_has_a_place_for_each_size_and_layer() -> None:
    found = figures(gpu_record())["heat"]
    assert found.titles == ["layer", *(f"{tokens} tokens" for tokens in (1, 16, 64, 256, 1024, 4096))]
    assert [row[0] for row in found.rows] == ["llama-3-8b", "llama-3-70b", "qwen2.5-7b", "deepseek-v3"]
    assert sum(text == "–" for row in found.rows for text in row) == 2, "broken and void cells have no score"


def test_the_course_has_both_sides_of_each_round() -> None:
    found = figures(gpu_record(rounds=5))["course"]
    assert [row[:2] for row in found.rows[:3]] == [["1", "head"], ["1", "base"], ["2", "head"]]
    assert len(found.rows) == 10
    assert "power cap" in found.rows[0][5]


@pytest.mark.parametrize(
    "taken", [record([]), record([FakeCell(key="a")], rounds=0, stopped=None)], ids=["none", "cut"]
)
def test_nothing_is_drawn_of_nothing(taken: Record) -> None:
    assert figures(taken) == {}
    assert render_pictures(taken, judge(taken)) == {}


def test_pictures_are_png_of_a_width_that_can_be_read() -> None:
    taken = gpu_record(layers=2, rounds=6)
    found = render_pictures(taken, judge(taken))
    assert set(found) == {"forest.png", "roofline.png"}
    for content in found.values():
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", content[16:24])
        assert 900 < width < 2000
        assert 300 < height < 1200


def test_the_page_s_drawings_take_their_colours_from_the_page() -> None:
    taken = gpu_record(layers=2, rounds=6)
    view = report_view(taken, judge(taken))
    for figure, svg in begin("svg", report_figures(view, taken.header.ceilings, NAMED))():
        shown = inlined(svg, figure.label)
        assert "var(--soft)" in shown
        assert not any(colour in shown for colour in ("#000", "white", "black"))
    assert variables(LIGHT).startswith("--ground:#ffffff;")


def test_names_that_come_twice_are_told_apart() -> None:
    assert unique(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]


def test_nothing_is_loaded_until_something_is_drawn() -> None:
    script = (
        "import sys, solwatch.cli.main, solwatch.app.gate, solwatch.app.reporting;"
        "print(*{'vl_convert', 'scipy'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout == b"\n"


def test_what_another_process_draws_is_the_same_and_what_it_owes_when_it_dies_is_drawn_here() -> None:
    found = list(figures(gpu_record(layers=1, rounds=5)).values())
    alone = [svg for _, svg in begin("svg", found)()]
    with drawing_beside():
        assert [svg for _, svg in begin("svg", found)()] == alone
        assert drawing._beside is not None
        drawing._beside._process.kill()
        assert [svg for _, svg in begin("svg", found)()] == alone
    assert drawing._beside is None


def test_an_answer_that_breaks_off_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import sys; sys.stdin.readline(); print('PHN2Zz4', end='')")
    found = list(figures(gpu_record(layers=1, rounds=5)).values())
    alone = [svg for _, svg in begin("svg", found)()]
    monkeypatch.setattr(vega, "__file__", str(broken))
    with drawing_beside():
        assert [svg for _, svg in begin("svg", found)()] == alone


def test_an_interrupt_leaves_no_process_behind() -> None:
    found = list(figures(gpu_record(layers=1, rounds=5)).values())
    begun = []

    def interrupted() -> None:
        with drawing_beside():
            begin("svg", found)
            begun.append(drawing._beside)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert begun[0] is not None
    assert begun[0]._process.returncode is not None


def test_a_chart_that_can_not_be_drawn_says_so_from_another_process_too() -> None:
    broken = Figure(anchor="a", title="a", label="a", caption="", spec={"mark": 3}, titles=[])
    with drawing_beside(), pytest.raises(ValueError, match="conversion failed"):
        list(begin("svg", [broken])())
