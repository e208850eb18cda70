"""The CPU device on real cells, small ones; the ruler is a call of known duration."""

import dataclasses
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from solwatch.device.caches import private_caches
from solwatch.device.cpu import CpuDevice
from solwatch.device.cpu_ceilings import measure_cpu_ceilings
from solwatch.device.opening import open_device
from solwatch.device.preparing import poison
from solwatch.device.wall import calls_per_sample, wall_samples
from solwatch.model.cell import Cell, Timer, Work
from solwatch.model.errors import MachineError, RequestError
from solwatch.model.protocol import Findings

WORK = Work(flops=1.0, traffic_bytes=1.0, dtype="float32")
NO_GPU = not torch.cuda.is_available()


@pytest.fixture(autouse=True)
def small_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solwatch.device.cpu.MOST_POOL_BYTES", 64 << 20)


def scaling_cell(
    call: Callable[..., Any] = lambda x, out: torch.mul(x, 2, out=out), timer: Timer | None = None
) -> Cell:
    """Return a cell that must double its input."""

    def make_inputs(device: str, seed: int) -> dict[str, torch.Tensor]:
        generator = torch.Generator().manual_seed(seed)
        return {"x": torch.randn(1000, generator=generator), "out": torch.empty(1000)}

    def check(x: torch.Tensor, out: torch.Tensor) -> None:
        wrong = int((out != 2 * x).sum())
        assert wrong == 0, f"{wrong} of {out.numel()} elements are wrong"

    return Cell(make_inputs=make_inputs, call=call, work=WORK, check=check, timer=timer)


def test_a_block_has_samples_null_times_and_takes_about_its_time() -> None:
    device = CpuDevice(seed=1)
    prepared = device.prepare(scaling_cell(), seed=3, check=True)
    assert (prepared.findings, prepared.work) == (Findings(timer=Timer.WALL), WORK)
    started = time.perf_counter()
    block = device.measure(0.1)
    assert 0.1 <= time.perf_counter() - started < 0.4
    assert len(block.samples_s) == len(block.null_s) >= 3
    assert 0 < statistics.median(block.null_s) < statistics.median(block.samples_s)
    assert block.number > 1
    assert block.fallback is None
    assert block.voids == []
    assert block.before is not None
    assert block.after is not None


def test_the_ruler_measures_a_call_of_known_duration() -> None:
    def spin(x: torch.Tensor, out: torch.Tensor) -> None:
        end = time.perf_counter() + 2e-3
        while time.perf_counter() < end:
            pass

    device = CpuDevice(seed=1)
    device.prepare(scaling_cell(spin), seed=3, check=False)
    block = device.measure(0.1)
    assert block.number == 1
    # The least sample: on a shared machine the others also hold what the scheduler took.
    assert min(block.samples_s) == pytest.approx(2e-3, rel=0.02)


def test_a_long_call_is_still_measured_three_times() -> None:
    device = CpuDevice(seed=1)
    device.prepare(scaling_cell(lambda x, out: time.sleep(0.03)), seed=3, check=False)
    assert len(device.measure(0.01).samples_s) == 3


def test_a_wrong_result_is_raised_before_anything_is_timed() -> None:
    device = CpuDevice(seed=1)
    with pytest.raises(AssertionError, match="1000 of 1000 elements are wrong"):
        device.prepare(scaling_cell(lambda x, out: torch.mul(x, 3, out=out)), seed=3, check=True)
    with pytest.raises(MachineError, match="no cell is prepared"):
        device.measure(0.01)


def test_an_unwritten_output_is_wrong_although_its_memory_held_the_result() -> None:
    calls = 0

    def lazy(x: torch.Tensor, out: torch.Tensor) -> None:
        nonlocal calls
        calls += 1
        torch.mul(x[:500], 2, out=out[:500])

    def with_the_result(device: str, seed: int) -> dict[str, torch.Tensor]:
        x = torch.randn(1000, generator=torch.Generator().manual_seed(seed))
        return {"x": x, "out": 2 * x}

    cell = dataclasses.replace(scaling_cell(lazy), make_inputs=with_the_result)
    with pytest.raises(AssertionError, match="500 of 1000"):
        CpuDevice(seed=1).prepare(cell, seed=3, check=True)
    assert calls == 1


def test_another_timer_falls_back_visibly() -> None:
    device = CpuDevice(seed=1)
    device.prepare(scaling_cell(timer=Timer.GRAPH), seed=3, check=False)
    block = device.measure(0.01)
    assert block.timer == Timer.WALL
    assert block.fallback is not None
    assert "graph" in block.fallback


def test_a_cache_that_changes_after_warm_up_voids_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in private_caches(tmp_path).items():
        monkeypatch.setenv(variable, value)
    device = CpuDevice(seed=1)
    device.prepare(scaling_cell(), seed=3, check=False)
    assert device.measure(0.01).voids == []
    (tmp_path / "inductor").mkdir()
    (tmp_path / "inductor" / "tuned.json").write_text("{}")
    assert device.measure(0.01).voids == ["cache_changed"]


def test_calls_run_without_gradients() -> None:
    seen = []

    def call(x: torch.Tensor, out: torch.Tensor) -> None:
        seen.append(torch.is_grad_enabled())

    device = CpuDevice(seed=1)
    device.prepare(scaling_cell(call), seed=3, check=False)
    device.measure(0.01)
    device.measure_energy(0.01)
    assert set(seen) == {False}


def test_the_hot_loop_lasts_as_long_as_asked_and_has_no_joules() -> None:
    device = CpuDevice(seed=1)
    device.prepare(scaling_cell(lambda x, out: time.sleep(1e-3)), seed=3, check=False)
    started = time.perf_counter()
    measured = device.measure_energy(0.05)
    assert time.perf_counter() - started >= 0.05
    assert measured.energy_j is None
    assert 1e-3 <= measured.hot_s < 5e-3


def test_released_cells_are_forgotten() -> None:
    device = CpuDevice(seed=1)
    device.prepare(scaling_cell(), seed=3, check=False)
    device.release()
    with pytest.raises(MachineError, match="released"):
        device.measure_energy(0.01)


def test_the_fingerprint_names_processor_threads_and_torch() -> None:
    fingerprint = CpuDevice(seed=1).fingerprint()
    assert fingerprint.device == "cpu"
    assert f"{torch.get_num_threads()} thread" in fingerprint.model
    assert fingerprint.torch == torch.__version__
    assert fingerprint.power_limit_w is None


def test_ceilings_are_positive_and_leave_out_what_a_cpu_cannot_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solwatch.device.cpu_ceilings.THROUGHPUT_S", 0.05)
    monkeypatch.setattr("solwatch.device.cpu_ceilings.BANDWIDTH_S", 0.02)
    monkeypatch.setattr("solwatch.device.cpu_ceilings.last_level_cache_bytes", lambda: 1 << 20)
    ceilings = measure_cpu_ceilings(["float32", "float8_e4m3fn"])
    assert set(ceilings.sustained_flops) == {"float32"}
    assert ceilings.sustained_flops["float32"] > 1e8
    assert ceilings.sustained_bandwidth is not None
    assert ceilings.sustained_bandwidth > 1e8
    assert ceilings.rated_flops == {}


@pytest.mark.parametrize(("threads", "said"), [(1, "with 1 thread:"), (2, "with 2 threads:")])
def test_ceilings_count_their_threads_in_words(monkeypatch: pytest.MonkeyPatch, threads: int, said: str) -> None:
    monkeypatch.setattr("torch.get_num_threads", lambda: threads)
    monkeypatch.setattr("solwatch.device.cpu_ceilings.BANDWIDTH_S", 0.001)
    monkeypatch.setattr("solwatch.device.cpu_ceilings.last_level_cache_bytes", lambda: 1 << 20)
    assert said in measure_cpu_ceilings([]).source


def test_samples_are_seconds_per_call_over_sets_in_rotation() -> None:
    now = 0.0
    called: list[int] = []

    def call(set_number: int) -> None:
        nonlocal now
        called.append(set_number)
        now += 2.0

    sets = [{"set_number": number} for number in range(3)]
    samples_s, null_s = wall_samples(call, sets, lambda: now, number=2, deadline=13.0)
    assert samples_s == [2.0] * 4
    assert null_s == [0.0] * 4
    assert called == [0, 1, 2, 0, 1, 2, 0, 1]


@pytest.mark.parametrize(("call_s", "number"), [(3e-6, 334), (4e-4, 3), (1e-3, 1), (5.0, 1), (0.0, 10_000)])
def test_samples_last_a_millisecond_where_calls_are_short(call_s: float, number: int) -> None:
    assert calls_per_sample(call_s) == number


def test_poison_spares_an_output_that_is_also_an_input() -> None:
    residual = torch.ones(4)
    assert not poison({"residual": residual, "out": residual})
    assert residual.eq(1).all()
    assert poison({"residual": residual, "out": (out := torch.ones(4))})
    assert out.isnan().all()
    assert poison({"out": (counts := torch.ones(4, dtype=torch.int32))})
    assert counts.eq(-(2**31)).all()
    assert not poison({"x": residual})


def test_devices_open_by_name() -> None:
    assert open_device("cpu", seed=1).fingerprint().device == "cpu"


@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
def test_auto_is_the_cpu_where_there_is_no_gpu() -> None:
    assert open_device("auto", seed=1).fingerprint().device == "cpu"


@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
@pytest.mark.parametrize("name", ["cuda", "cuda:1"])
def test_a_missing_gpu_is_one_line_with_the_fix(name: str) -> None:
    with pytest.raises(MachineError) as caught:
        open_device(name, seed=1)
    assert "\n" not in str(caught.value)
    assert "--device cpu" in str(caught.value)


@pytest.mark.parametrize("name", ["gpu", "cpu:1", "cuda:x", "", "auto:0"])
def test_an_unknown_name_is_a_wrong_request(name: str) -> None:
    with pytest.raises(RequestError, match="cuda:<index>"):
        open_device(name, seed=1)
