"""Figures that no measurement gives, in a file that somebody damaged: a page, a table, a comment all the same."""

import math

import msgspec
import pytest
from fakes.gpu_run import gpu_record
from fakes.verdicts import slower, verdict
from hypothesis import given, settings
from hypothesis import strategies as st

from solwatch.app.joining import joined
from solwatch.judge.judgement import Judgement
from solwatch.judge.judging import judge
from solwatch.model.estimate import Estimate
from solwatch.model.verdict import CellVerdict, Verdict
from solwatch.render.annotations import render_annotations
from solwatch.render.charts import figures as charts
from solwatch.render.charts.drawing import begin
from solwatch.render.charts.forest import forest_reach
from solwatch.render.charts.theme import NAMED
from solwatch.render.headline import headline
from solwatch.render.html import _strips
from solwatch.render.joint import render_comment, render_joint_line
from solwatch.render.junit import render_junit
from solwatch.render.summary import render_summary
from solwatch.render.terminal import render_terminal
from solwatch.render.verdict_view import verdict_view
from solwatch.render.view import report_view
from solwatch.workspace.artifacts import Found

TAKEN = gpu_record(layers=1, rounds=5)
JUDGED = judge(TAKEN)

extremes = st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324, 1.8e308, -1.8e308, 1e300, math.inf, -math.inf, math.nan])
numbers = extremes | st.floats()
estimates = st.builds(
    Estimate,
    point=numbers,
    low=st.none() | numbers,
    high=st.none() | numbers,
    level=numbers,
    count=st.integers(-(2**63), 2**63 - 1),
)
figures = st.fixed_dictionaries(
    dict.fromkeys(("mde", "power", "p_value", "min_effect", "margin"), st.none() | numbers)
    | dict.fromkeys(("slowdown_ratio", "null_ratio", "cycles_ratio"), st.none() | estimates)
    | {"verdict": st.sampled_from(Verdict), "rounds": st.integers(-(2**63), 2**63 - 1)}
)


def absurd(cell: CellVerdict, changed: dict[str, object]) -> CellVerdict:
    return msgspec.structs.replace(cell, **changed)


def judged(changed: dict[str, object]) -> Judgement:
    """Return the judgement with the same figures in every cell."""
    return msgspec.structs.replace(JUDGED, verdicts=[absurd(cell, changed) for cell in JUDGED.verdicts])


@settings(max_examples=150, deadline=None)
@given(figures)
def test_every_figure_of_a_verdict_can_be_shown(changed: dict[str, object]) -> None:
    shown = verdict_view(absurd(slower(), changed))
    for text in (shown.change, shown.interval, shown.mde, shown.power):
        assert text
        assert len(text) < 60
        assert "inf" not in text
        assert "nan" not in text


@settings(max_examples=60, deadline=None)
@given(figures)
def test_a_comment_is_made_of_whatever_the_files_hold(changed: dict[str, object]) -> None:
    kept = Found(where="a", value=verdict("h200", 1, cells=[absurd(slower(), changed)]))
    joint = joined([kept], entries=["h200"])
    assert "| `o_proj.OProj(1)` |" in render_comment(joint)
    assert render_joint_line(joint)


@settings(max_examples=40, deadline=None)
@given(figures)
def test_a_report_is_made_of_whatever_was_judged(changed: dict[str, object]) -> None:
    found = judged(changed)
    for text in (
        render_terminal(TAKEN, found),
        render_summary(TAKEN, found),
        render_annotations(TAKEN, found),
        render_junit(TAKEN, found).decode(),
        headline(TAKEN, found).text,
    ):
        assert "nan" not in text.lower().split()
    view = report_view(TAKEN, found)
    drawn = charts.report_figures(view, TAKEN.header.ceilings, NAMED)
    # JSON has no infinity, and Vega would draw it nowhere.
    assert b"Infinity" not in msgspec.json.encode([figure.spec for figure in drawn])
    for strip in _strips(view.rows).values():
        assert all(0 <= place <= 100 for place in (strip.low, strip.high, strip.at))


@pytest.mark.parametrize("end", [math.inf, math.nan, None])
def test_a_scale_is_found_where_no_end_of_an_interval_is_finite(end: float | None) -> None:
    estimate = Estimate(point=math.inf, low=end, high=end, level=0.95, count=5)
    rows = report_view(TAKEN, judged({"slowdown_ratio": estimate})).rows
    assert 0 < forest_reach(rows) < math.inf
    assert _strips(rows) == {}


@pytest.mark.parametrize("ratio", [math.inf, 1.8e308, 5e-324, -1.0, 0.0])
def test_charts_are_drawn_of_such_ratios_too(ratio: float) -> None:
    estimate = Estimate(point=ratio, low=0.0, high=math.inf, level=0.95, count=5)
    view = report_view(TAKEN, judged({"slowdown_ratio": estimate, "mde": math.inf}))
    drawn = begin("svg", charts.report_figures(view, TAKEN.header.ceilings, NAMED))
    assert all(svg.startswith(b"<svg") for _, svg in drawn())
