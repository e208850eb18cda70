"""The table, its ratios and means, on results whose answers are known."""

import json

import jsonschema
import msgspec
import pytest

from benchmarks.layers import LAYERS
from benchmarks.peers.comparison import table
from benchmarks.peers.comparison.result import SCHEMA_VERSION, CellResult, Comparison, Contender, Screened
from benchmarks.projection import projection_work
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Ceilings
from solwatch.render.json import render_document


def cell(tokens: int, layer: str, times_us: dict[str, float | None]) -> CellResult:
    shape = LAYERS[layer]
    return CellResult(
        tokens=tokens,
        layer=layer,
        n=shape.n,
        k=shape.k,
        work=projection_work(tokens, shape, "bfloat16"),
        t_sol_s=5e-6,
        null_s=3e-6,
        sm_clock_hz=1.9e9,
        contenders=[
            Contender(
                peer=peer,
                candidate=f"best of {peer}",
                time_s=None if time is None else time * 1e-6,
                sol_score=None if time is None else 5 / time,
                swept=[Screened(name="other", time_s=None, failure="too large")],
                failure="no candidate works: too large" if time is None else None,
            )
            for peer, time in times_us.items()
        ],
    )


def comparison(*cells: CellResult, stopped: str | None = None) -> Comparison:
    return Comparison(
        schema_version=SCHEMA_VERSION,
        created_at="2026-01-01T00:00:00+00:00",
        dtype="bfloat16",
        rounds=20,
        seed=0,
        fingerprint=Fingerprint(
            device="cuda", model="NVIDIA H200", driver="580", vbios=None, power_limit_w=700.0, ecc=True,
            clock_lock=None, cuda="13.0", torch="2.11", protocol=1,
        ),
        ceilings=Ceilings(),
        versions={"torch": "2.11.0"},
        peers=["op", "addmm", "cublasLt", "compile"],
        left_out={"CUTLASS": "its headers are not installed: pip install nvidia-cutlass"},
        cells=list(cells),
        stopped=stopped,
    )  # fmt: skip


DECODE = cell(16, "llama-3-8b", {"op": 10.0, "addmm": 20.0, "cublasLt": 9.0, "compile": 12.0})
OTHER = cell(16, "llama-3-70b", {"op": 40.0, "addmm": 45.0, "cublasLt": 50.0, "compile": None})
PREFILL = cell(4096, "llama-3-8b", {"op": 200.0, "addmm": 200.0, "cublasLt": 190.0})


def line_of(text: str, *words: str) -> list[str]:
    (found,) = [line.split() for line in text.splitlines() if line.split()[: len(words)] == list(words)]
    return found


def test_speed_is_the_peers_time_over_the_ops() -> None:
    assert table.speed(DECODE, "addmm") == pytest.approx(2.0)
    assert table.speed(DECODE, "cublasLt") == pytest.approx(0.9)
    assert table.speed(DECODE, table.BEST) == pytest.approx(0.9)
    assert table.speed(OTHER, table.BEST) == pytest.approx(1.125)
    assert table.speed(OTHER, "compile") is None
    assert table.speed(PREFILL, "nobody") is None


def test_geometric_means_leave_out_what_is_not_there() -> None:
    assert table.geometric_mean([2.0, None, 8.0]) == pytest.approx(4.0)
    assert table.geometric_mean([None]) is None


def test_the_table_holds_every_figure_in_its_place() -> None:
    text = table.render(comparison(DECODE, OTHER, PREFILL))
    assert line_of(text, "llama-3-8b", "16")[2:] == (
        ["10.00", "(0.50)", "20.00", "(0.25)", "2.000", "9.00", "(0.56)", "0.900", "12.00", "(0.42)", "1.200"]
    )
    assert line_of(text, "llama-3-8b", "4096")[-2:] == ["–", "–"]
    # over the layers: sqrt(2 × 1.125), sqrt(0.9 × 1.25), 1.2 alone, sqrt(0.9 × 1.125) for the best
    assert line_of(text, "16", "2") == ["16", "2", "1.500", "1.061", "1.200", "1.006", "0.900"]
    assert line_of(text, "4096", "1") == ["4096", "1", "1.000", "0.950", "–", "0.950", "0.950"]
    assert line_of(text, "compile") == ["compile", "0.417", "0.500", "1"]
    assert line_of(text, "op")[1:] == [f"{(0.5 * 0.125 * 0.025) ** (1 / 3):.3f}"] * 2 + ["3"]


def test_peers_that_are_ahead_left_out_or_failed_are_named() -> None:
    text = table.render(comparison(DECODE, OTHER, stopped="interrupted"))
    assert "16 × llama-3-8b: 0.900 of cublasLt (best of cublasLt)" in text
    assert "16 × llama-3-70b: " not in text
    assert "CUTLASS: left out: its headers are not installed: pip install nvidia-cutlass" in text
    assert "16 × llama-3-70b, compile: no candidate works: too large" in text
    assert "stopped after 2 cells: interrupted" in text


def test_a_kept_run_reads_back_and_obeys_its_schema() -> None:
    made = comparison(DECODE, OTHER)
    data = render_document(made)
    assert msgspec.json.decode(data, type=Comparison) == made
    jsonschema.validate(json.loads(data), msgspec.json.schema(Comparison))
