"""Selftests and calibrations as text: golden, verdict first, advice last, settings that can be pasted."""

import sys
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
import pytest
from fakes.records import FakeCell, record

from solwatch.judge.calibration import CalibratedCell, Calibration, calibrated_cells
from solwatch.judge.judging import judge
from solwatch.judge.selftest import CheckedGate, Selftest, checked_cells
from solwatch.model.config import Config
from solwatch.render.calibration import IN_OWN_FILE, render_calibration
from solwatch.render.selftest import render_selftest
from solwatch.workspace.settings import load_config

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GOLDEN = Path(__file__).parent / "golden"
SIZES = {"none": 0.0, "margin": 0.003, "slight": 0.0125, "double": 0.02, "fivefold": 0.05}


def gate(ratios: dict[str, float], planted: dict[str, float], *, spread: float = 0.0015) -> CheckedGate:
    names = {size: f"known_work.Gpu('{size}', 'long')" for size in SIZES}
    cells = [FakeCell(key=names[size], base_s=300e-6, ratio=ratios.get(size, 1.0), spread=spread) for size in SIZES]
    judgement = judge(record(cells, rounds=36))
    checked = checked_cells(judgement, {names[size]: planted[size] for size in planted})
    return CheckedGate(cells=checked, rounds=36, wall_s=40.0)


def selftest(
    same: dict[str, float], planted: dict[str, float], *, spread: float = 0.0015, min_effect: float = 0.01
) -> Selftest:
    return Selftest(
        schema_version=1,
        solwatch="0.1.0",
        created_at="2026-03-04T05:00:00Z",
        machine="gpu-runner-3",
        seed=5,
        fingerprint=record([]).header.fingerprint,
        usual_min_effect=0.01,
        min_effect=min_effect,
        same=gate(same, {}, spread=spread),
        planted=gate(planted, SIZES, spread=spread),
    )


AS_PLANTED = {size: 1 + 0.989 * planted for size, planted in SIZES.items()}


def calibration(cells: list[CalibratedCell] | None = None) -> Calibration:
    made = [
        FakeCell(key="o_proj.OProj(1, 'llama-3-8b')", base_s=20e-6, spread=0.001),
        FakeCell(key="o_proj.OProj(64, 'llama-3-8b')", base_s=25e-6, spread=0.004),
        FakeCell(key="o_proj.OProj(4096, 'gpt-oss')", base_s=300e-6, voided=frozenset(range(20))),
    ]
    taken = record(made, rounds=20, stopped="rounds")
    return Calibration(
        schema_version=1,
        header=taken.header,
        rounds=20,
        wall_s=46.4,
        rule="a rule",
        caught_share=0.99,
        gates=100,
        cells=calibrated_cells(taken, gates=100) if cells is None else cells,
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("selftest-pass.txt", render_selftest(selftest({}, AS_PLANTED))),
        ("selftest-fail.txt", render_selftest(selftest({"none": 1.03}, AS_PLANTED | {"double": 1.0}))),
        ("selftest-undecided.txt", render_selftest(selftest({}, AS_PLANTED, spread=0.02))),
        ("calibration.txt", render_calibration(calibration())),
    ],
)
def test_is_what_it_was(name: str, text: str) -> None:
    path = GOLDEN / name
    assert text + "\n" == path.read_text(encoding="utf-8"), f"if this change is meant, write it to {path}"


def test_a_selftest_says_the_verdict_first_and_advice_last() -> None:
    for found, title in (
        (selftest({}, AS_PLANTED), "PASS"),
        (selftest({"none": 1.03}, AS_PLANTED), "FAIL"),
        (selftest({}, AS_PLANTED, spread=0.02), "UNDECIDED"),
    ):
        lines = render_selftest(found).splitlines()
        assert lines[0].startswith(f"{title}  A/A: ")
        assert lines[-1].startswith("→ ")
        assert max(map(len, lines[:-1])) <= 120


def test_a_selftest_that_claims_less_than_usual_says_so_first_and_last() -> None:
    lines = render_selftest(selftest({}, AS_PLANTED, min_effect=0.012)).splitlines()
    assert lines[0].startswith("PASS  ")
    assert lines[0].endswith("(a min effect of 1.20 %, not 1.00 %)")
    assert lines[-1].startswith("→ rounds scatter too much here for the usual min effect of 1.00 %: set min_effect_cpu")


HOSTILE = "a.B('\"\\[x]*?\x1b\u202e\U000e0001')"


def cell(key: str, **changed: object) -> CalibratedCell:
    usual = CalibratedCell(
        key=key, unit="seconds", base_s=2e-5, rounds=20, min_effect=0.01, margin=0.003, caught=0.5, proposed=0.02
    )
    return msgspec.structs.replace(usual, **changed)


@pytest.mark.parametrize("table", ["[[tool.solwatch.cells]]", IN_OWN_FILE])
def test_the_settings_can_be_pasted_and_match_the_cell_alone(tmp_path: Path, table: str) -> None:
    text = render_calibration(calibration([cell(HOSTILE), cell("plain(1)"), cell("kept", proposed=0.01)]), table=table)
    assert "\x1b" not in text
    assert "\u202e" not in text
    pasted = text[text.index("# solwatch calibrate") : text.index("→")]
    (tmp_path / ("solwatch.toml" if table == IN_OWN_FILE else "pyproject.toml")).write_text(pasted, encoding="utf-8")
    tomllib.loads(pasted)
    config: Config = load_config(tmp_path, {})
    matched = {
        key: [override.min_effect for override in config.cells if fnmatchcase(key, override.match)]
        for key in (HOSTILE, "plain(1)", "kept", "plain(12)")
    }
    assert matched == {HOSTILE: [0.02], "plain(1)": [0.02], "kept": [], "plain(12)": []}


def test_nothing_to_change_is_said_without_settings() -> None:
    text = render_calibration(calibration([cell("a", caught=1.0, proposed=0.01, holds=0.008, catches=0.01)]))
    assert text.startswith("CALIBRATED  1 of 1 cells hold their min effect\n")
    assert "min_effect =" not in text


def test_two_modes_and_nothing_held_have_their_advice() -> None:
    text = render_calibration(calibration([cell("a", two_modes=True, proposed=None, caught=0.0)]))
    assert "1 with two modes" in text
    assert "> 80 %" in text
    assert "→ two modes: " in text
    assert "→ a cell that holds nothing needs a quieter machine" in text
