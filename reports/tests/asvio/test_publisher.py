"""The speed-of-light page as files: what is entered into asv's site, and what its data hold."""

import json
import shutil
from pathlib import Path
from typing import Any

import asv
import pytest
from asv.graph import GraphSet
from asv.util import UserError
from fakes.hostile import texts
from hypothesis import given
from hypothesis import strategies as st

from solwatch.asvio.publisher import PageData, publish_page, subjects_by_revision
from solwatch.asvio.scores import cards
from solwatch.model.history import GateRun, LimitRow
from solwatch.model.plain import hidden

NAME = "o_proj.OProj"
BENCHMARKS: dict[str, Any] = {
    f"{NAME}.track_sol_gap": {"params": [["1", "16"], ["'llama'"]], "param_names": ["tokens", "layer"]},
    f"{NAME}.track_time": {"params": [["1", "16"], ["'llama'"]], "param_names": ["tokens", "layer"]},
    "other.track_answer": {"params": [], "param_names": []},
}
PLACE = {"machine": "runner", "os": "Linux", "python": "3.11", "branch": "main"}
LIMIT = LimitRow(
    taken_at="2026-03-04T05:00:00Z", machine="runner", model="NVIDIA H200", benchmark=NAME, params=["16", "'llama'"],
    flops=2e9, traffic_bytes=1e6, dtype="bfloat16", kind="rated", peak_flops=1e15, peak_bandwidth=4.8e12,
)  # fmt: skip


def graphs(*points: tuple[str, dict[str, str], int, list[float | None] | float]) -> GraphSet:
    made = GraphSet()
    for name, place, revision, values in points:
        made.get_graph(name, place).add_data_point(revision, values, [None] * 2 if isinstance(values, list) else None)
    return made


def gaps(place: dict[str, str], *points: tuple[int, list[float | None]]) -> GraphSet:
    return graphs(*((f"{NAME}.track_sol_gap", place, revision, values) for revision, values in points))


def test_scores_and_times_stand_at_the_positions_of_their_commits() -> None:
    made = gaps(PLACE, (12, [4.0, 1.25]), (10, [2.0, None]))
    made.get_graph(f"{NAME}.track_time", PLACE).add_data_point(12, [8e-6, 9e-6], [None, None])
    made.get_graph("other.track_answer", PLACE).add_data_point(12, 42)
    (card,) = cards(made, BENCHMARKS, [LIMIT])
    assert (card.label, card.machine, card.revisions) == ("runner · NVIDIA H200", "runner", [10, 12])
    one, sixteen = card.cells
    assert (one.name, one.scores, one.times_s) == (f"{NAME}(1, 'llama')", [0.5, 0.25], [None, 8e-6])
    assert (sixteen.scores, sixteen.times_s, sixteen.work) == ([None, 0.8], [None, 9e-6], LIMIT)
    assert sixteen.values == {"tokens": "16", "layer": "'llama'"}
    assert one.work is None


def test_a_benchmark_without_parameters_has_one_cell() -> None:
    made = graphs(("op.track_sol_gap", PLACE, 3, 1.6))
    (card,) = cards(made, {"op.track_sol_gap": {"params": [], "param_names": []}}, [])
    assert [(cell.name, cell.scores, cell.values) for cell in card.cells] == [("op", [0.625], {})]


def test_cards_are_told_apart_by_what_differs() -> None:
    made = gaps(PLACE | {"driver": "580"}, (1, [2.0, 2.0]))
    for place in (PLACE | {"driver": "590"}, PLACE | {"machine": "second"}):
        made.get_graph(f"{NAME}.track_sol_gap", place).add_data_point(1, [2.0, None], [None, None])
    assert [card.label for card in cards(made, BENCHMARKS, [])] == [
        "runner · driver 580",
        "runner · driver 590",
        "second",
    ]


def test_changes_are_levels_of_two_results_that_differ_by_more_than_two_percent() -> None:
    values = [[2.0, 1.0]] * 6 + [[None, 1.0]] + [[2.5, 1.015]] * 6 + [[9.0, 1.0]]
    made = gaps(PLACE, *((10 * at, each) for at, each in enumerate(values)))
    (card,) = cards(made, BENCHMARKS, [])
    slower, steady = card.cells
    (change,) = slower.changes
    assert (change.good, change.bad, change.before, change.after) == (5, 7, 0.5, 0.4)
    assert steady.changes == []


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_what_is_no_gap_has_no_score(value: float) -> None:
    (card,) = cards(gaps(PLACE, (1, [value, 2.0]), (2, [2.0, 2.0])), BENCHMARKS, [])
    assert card.cells[0].scores == [None, 0.5]
    assert cards(gaps(PLACE, (1, [value, None])), BENCHMARKS, []) == []


@given(name=texts, value=texts, machine=texts)
def test_names_that_are_shown_hide_nothing(name: str, value: str, machine: str) -> None:
    benchmark = f"{name}.track_sol_gap"
    listed = {benchmark: {"params": [[value]], "param_names": [name]}}
    made = GraphSet()
    made.get_graph(benchmark, PLACE | {"machine": machine}).add_data_point(1, [2.0], [None])
    (card,) = cards(made, listed, [])
    assert not any(map(hidden, card.label + card.cells[0].name))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    shutil.copytree(Path(asv.__file__).parent / "www", tmp_path / "html")
    return tmp_path / "html"


def page_data(subject: str = "first", **run: str) -> PageData:
    told = {"page": "a.html", "created_at": "2026-03-04", "machine": "m", "model": "H200", "head": "a" * 40}
    runs = [GateRun(**told | {"state": "pass", "verdict": "nothing is slower", "base": None} | run)]  # type: ignore[arg-type]
    return PageData(
        cards=cards(gaps(PLACE, (1, [2.0, 2.0])), BENCHMARKS, [LIMIT]), subjects={1: (subject, "Ada")}, runs=runs
    )


def test_the_page_is_entered_into_asvs_index(site: Path, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text("a page")
    publish_page(site, page_data(), [page], b"charts")
    index = (site / "index.html").read_text()
    assert index.index('href="#/speedoflight"') < index.index('id="nav-li-graphdisplay"')
    assert index.count('<div id="speedoflight-display"') == 1
    assert index.index("asv.js") < index.index('src="speedoflight.js"') < index.index("</head>")
    for name in ("speedoflight_words.js", "speedoflight.css"):
        assert name in index
        assert (site / name).exists()
    assert (site / "gates" / "a.html").read_text() == "a page"
    assert (site / "speedoflight-vega.js").read_bytes() == b"charts"
    data = json.loads((site / "speedoflight.json").read_text())
    assert data["cards"][0]["cells"][0]["scores"] == [0.5]
    assert data["subjects"] == {"1": ["first", "Ada"]}


@given(subject=st.text(max_size=60) | texts, verdict=texts)
def test_text_from_outside_is_in_the_data_alone(subject: str, verdict: str, tmp_path_factory: Any) -> None:
    html = tmp_path_factory.mktemp("html")
    shutil.copyfile(Path(asv.__file__).parent / "www" / "index.html", html / "index.html")
    publish_page(html, page_data(subject, verdict=verdict), [], b"")
    bare = html / "bare"
    bare.mkdir()
    shutil.copyfile(Path(asv.__file__).parent / "www" / "index.html", bare / "index.html")
    publish_page(bare, PageData(cards=[], subjects={}, runs=[]), [], b"")
    assert (html / "index.html").read_text() == (bare / "index.html").read_text()
    data = json.loads((html / "speedoflight.json").read_text(encoding="utf-8"))
    assert data["subjects"]["1"][0] == subject
    assert data["runs"][0]["verdict"] == verdict


def test_the_scripts_write_text_and_never_html(site: Path) -> None:
    publish_page(site, page_data(), [], b"")
    own = [path for path in site.glob("speedoflight*.js") if "vega" not in path.name]
    assert len(own) == 6
    for path in own:
        for way_in in ("innerHTML", "outerHTML", ".html(", ".append(", "insertAdjacent", "document.write", "eval("):
            assert way_in not in path.read_text(), path


def test_another_form_of_index_is_one_clear_error(site: Path) -> None:
    (site / "index.html").write_text("<html><head></head></html>")
    with pytest.raises(UserError, match=r"can't be entered: asv's index.html has no single"):
        publish_page(site, page_data(), [], b"")
    assert (site / "index.html").read_text() == "<html><head></head></html>"
    assert not (site / "speedoflight.json").exists()


def test_subjects_are_by_asvs_number_of_the_commit() -> None:
    assert subjects_by_revision({"a": ("s", "n"), "b": ("t", "n")}, {"a": 7}) == {7: ("s", "n")}
