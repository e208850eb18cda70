"""Thresholds of a cell: defaults by device, overrides by glob, nonsense refused."""

import pytest

from solwatch.judge.thresholds import CellThresholds, cell_thresholds
from solwatch.model.cell import CellInfo
from solwatch.model.config import CellOverride, Config
from solwatch.model.errors import ExitCode, RequestError


def thresholds(
    config: Config, key: str = "o.P(16)", *, device: str = "cuda", base_s: float | None = 1e-3, unit: str = "seconds"
) -> CellThresholds:
    info = CellInfo(key=key, benchmark="o.P", params=[], param_names=[], kind="suite", unit=unit)
    return cell_thresholds(config, info, device=device, base_s=base_s)


def test_a_gpu_cell_gets_one_per_cent_and_three_tenths_of_it_as_margin() -> None:
    found = thresholds(Config())
    assert found.min_effect == 0.01
    assert found.margin == pytest.approx(0.003)


def test_a_short_gpu_cell_gets_fifty_nanoseconds() -> None:
    assert thresholds(Config(), base_s=2e-6).min_effect == pytest.approx(0.025)
    assert thresholds(Config(), base_s=2e-6, device="cuda:1").min_effect == pytest.approx(0.025)


def test_fifty_nanoseconds_mean_nothing_in_another_unit_or_without_a_time() -> None:
    assert thresholds(Config(), base_s=2e-6, unit="bytes").min_effect == 0.01
    assert thresholds(Config(), base_s=None).min_effect == 0.01


def test_a_cpu_cell_gets_ten_per_cent() -> None:
    assert thresholds(Config(), device="cpu", base_s=1e-6).min_effect == 0.10


def test_a_configured_min_effect_takes_the_place_of_the_default() -> None:
    assert thresholds(Config(min_effect=0.02), base_s=2e-6).min_effect == 0.02


def test_the_last_matching_override_wins_setting_by_setting() -> None:
    config = Config(
        min_effect=0.05,
        margin=0.01,
        cells=[
            CellOverride(match="o.P(*)", min_effect=0.02, sol_floor=0.5, most_rounds=20),
            CellOverride(match="*16*", min_effect=0.03, gated=False),
            CellOverride(match="other*", min_effect=0.5, margin=0.1, sol_floor=0.9, most_rounds=5),
        ],
    )
    assert thresholds(config) == CellThresholds(
        min_effect=0.03, margin=0.01, sol_floor=0.5, gated=False, most_rounds=20
    )


def test_a_margin_that_is_not_below_the_min_effect_is_a_wrong_request() -> None:
    with pytest.raises(RequestError, match=r"o\.P\(16\): margin is 0\.02 and min_effect 0\.01") as caught:
        thresholds(Config(margin=0.02))
    assert caught.value.exit_code is ExitCode.USAGE
