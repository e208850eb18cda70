"""The GPU device on a real GPU: the ruler, the timers, what a call is found to do, faults."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from fakes.gpu_cells import addmm_cell, misbehaving_cells, spin_cell

from solwatch.device.caches import private_caches
from solwatch.device.cuda import CudaDevice
from solwatch.device.opening import open_device
from solwatch.device.sampler import GATE_OPENED
from solwatch.device.streams import Gate
from solwatch.model.cell import Cell, Timer, Work
from solwatch.model.errors import MachineError
from solwatch.model.record import Block

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
]

BLOCK_S = 0.05


@pytest.fixture(scope="module")
def device() -> Iterator[CudaDevice]:
    opened = CudaDevice(torch.cuda.current_device(), seed=11)
    yield opened
    opened.release()


def trimmed_mean(values: list[float]) -> float:
    cut = len(values) // 10
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def measured(device: CudaDevice, cell: Cell) -> Block:
    device.prepare(cell, seed=1, check=False)
    return device.measure(BLOCK_S)


@pytest.mark.parametrize("timer", [Timer.HELD, Timer.GRAPH, Timer.EVENTS, Timer.CUPTI])
@pytest.mark.parametrize("duration_us", [10, 20, 100])
def test_the_ruler_measures_kernels_of_known_duration(device: CudaDevice, timer: Timer, duration_us: int) -> None:
    block = measured(device, spin_cell(device.stage, duration_us * 1e-6, timer))
    assert block.timer == timer
    assert block.voids == []
    excess_s = trimmed_mean(block.samples_s) - trimmed_mean(block.null_s)
    assert excess_s == pytest.approx(duration_us * 1e-6, rel=0.02)


def test_the_wall_timer_measures_to_within_what_synchronising_costs(device: CudaDevice) -> None:
    block = measured(device, spin_cell(device.stage, 1e-3, Timer.WALL))
    assert trimmed_mean(block.samples_s) - trimmed_mean(block.null_s) == pytest.approx(1e-3, rel=0.05)


def test_short_kernels_are_unrolled(device: CudaDevice) -> None:
    block = measured(device, spin_cell(device.stage, 2e-6, None))
    assert block.number > 1
    assert 2e-6 < trimmed_mean(block.samples_s) < 6e-6


def test_a_block_carries_its_evidence(device: CudaDevice) -> None:
    prepared = device.prepare(addmm_cell(16), seed=1, check=False)
    started = time.perf_counter()
    block = device.measure(BLOCK_S)
    assert time.perf_counter() - started < 4 * BLOCK_S
    assert prepared.findings.timer == Timer.HELD
    assert prepared.findings.launches == block.launches
    assert prepared.findings.launches is not None
    assert 1 <= prepared.findings.launches <= 4
    assert len(block.samples_s) == len(block.null_s) > 100
    assert 1e-6 < trimmed_mean(block.null_s) < 10e-6
    assert block.sm_clock_hz is not None
    assert block.sm_clock_hz > 5e8
    assert block.before is not None
    assert block.before.power_w is not None


def test_blocks_of_one_process_agree(device: CudaDevice) -> None:
    device.prepare(addmm_cell(16), seed=1, check=False)
    device.measure(BLOCK_S)
    times = [trimmed_mean(device.measure(BLOCK_S).samples_s) for _ in range(6)]
    assert statistics.stdev(times) / statistics.fmean(times) < 0.02


@pytest.mark.parametrize(
    ("name", "timer", "words"),
    [
        ("synchronises", Timer.EVENTS, "synchronises"),
        ("reads_back", Timer.EVENTS, "synchronises"),
        ("leaves", Timer.WALL, "launches nothing on the current stream"),
        ("forks_and_joins", Timer.HELD, None),
        ("uses_legacy_stream", Timer.EVENTS, "legacy stream"),
        ("allocates", Timer.EVENTS, "allocates device memory"),
        ("launches_often", Timer.EVENTS, "300 launches"),
        ("multiplies", Timer.HELD, None),
    ],
)
def test_what_a_call_does_picks_its_timer(device: CudaDevice, name: str, timer: Timer, words: str | None) -> None:
    block = measured(device, misbehaving_cells(device.stage)[name])
    assert block.timer == timer
    assert GATE_OPENED not in block.voids
    assert (words is None) == (block.fallback is None)
    if words is not None:
        assert block.fallback is not None
        assert words in block.fallback


def test_work_that_leaves_the_stream_does_not_escape_the_timing(device: CudaDevice) -> None:
    other = torch.cuda.Stream()
    stage = device.stage

    def call(unused: torch.Tensor) -> None:
        torch.mul(unused, 2, out=unused)
        stage.kernels.spin(other.cuda_stream, 200e-6)

    cell = spin_cell(stage, 0.0, Timer.EVENTS)
    block = measured(device, Cell(make_inputs=cell.make_inputs, call=call, work=cell.work, check=cell.check))
    # Nothing shows that the spin belongs to the call but the time that the whole device is busy.
    if block.timer == Timer.WALL:
        assert trimmed_mean(block.samples_s) > 200e-6
    else:
        pytest.fail(f"timed by {block.timer}: {trimmed_mean(block.samples_s) * 1e6:.1f} us")


def test_the_watchdog_opens_the_gate(device: CudaDevice) -> None:
    stage = device.stage
    gate = Gate(stage.index, stage.kernels, watchdog_s=0.3)
    gate.hold(stage.handle)
    stage.null()
    started = time.perf_counter()
    stage.synchronize()
    assert 0.2 < time.perf_counter() - started < 3
    assert gate.opened_by_watchdog == 1


def test_a_gate_kernel_holds_where_streams_cannot_wait(device: CudaDevice) -> None:
    stage = device.stage
    gate = Gate(stage.index, stage.kernels)
    gate.waits_by_kernel = True
    gate.hold(stage.handle)
    event = stage.mark()
    time.sleep(0.02)
    assert not torch.cuda.ExternalStream(int(stage.handle)).query()
    gate.release()
    stage.wait(event)
    stage.recycle(event)


def test_a_wrong_result_is_raised(device: CudaDevice) -> None:
    def check(x: torch.Tensor, out: torch.Tensor) -> None:
        assert torch.equal(out, 2 * x), "out is not 2 x"

    def inputs(device: str, seed: int) -> dict[str, torch.Tensor]:
        return {"x": torch.randn(1000, device=device), "out": torch.empty(1000, device=device)}

    work = Work(flops=1.0, traffic_bytes=1.0, dtype="float32")
    right = Cell(make_inputs=inputs, call=lambda x, out: torch.mul(x, 2, out=out), work=work, check=check)
    wrong = Cell(make_inputs=inputs, call=lambda x, out: torch.mul(x, 3, out=out), work=work, check=check)
    device.prepare(right, seed=1, check=True)
    with pytest.raises(AssertionError, match="out is not 2 x"):
        device.prepare(wrong, seed=1, check=True)
    with pytest.raises(MachineError, match="no cell is prepared"):
        device.measure(BLOCK_S)


def test_out_of_memory_leaves_room_for_the_next_cell(device: CudaDevice) -> None:
    with pytest.raises(torch.OutOfMemoryError):
        device.prepare(addmm_cell(1 << 23, layer=(16384, 16384)), seed=1, check=False)
    before, _ = torch.cuda.mem_get_info()
    assert measured(device, addmm_cell(16)).samples_s
    device.release()
    after, _ = torch.cuda.mem_get_info()
    assert after >= before - (64 << 20)


def test_a_cache_that_changes_voids_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in private_caches(tmp_path).items():
        monkeypatch.setenv(variable, value)
    device = open_device(f"cuda:{torch.cuda.current_device()}", seed=2)
    device.prepare(addmm_cell(16), seed=1, check=False)
    assert device.measure(BLOCK_S).voids == []
    (tmp_path / "triton").mkdir(exist_ok=True)
    (tmp_path / "triton" / "late.cubin").write_bytes(b"x")
    assert device.measure(BLOCK_S).voids == ["cache_changed"]
    device.release()


def test_energy_and_hot_time(device: CudaDevice) -> None:
    block = measured(device, addmm_cell(256))
    energy = device.measure_energy(0.5)
    assert 1e-6 < energy.hot_s < trimmed_mean(block.samples_s)
    assert energy.energy_j is not None
    watts = energy.energy_j / energy.hot_s
    assert 50 < watts < 1500


def test_sustained_ceilings_lie_under_the_rated(device: CudaDevice) -> None:
    ceilings = device.ceilings(["bfloat16", "float32"])
    assert ceilings.sustained_bandwidth is not None
    if ceilings.rated_bandwidth is None or "bfloat16" not in ceilings.rated_flops:
        pytest.skip(f"nothing is rated: {ceilings.source}")
    assert 0.4 < ceilings.sustained_bandwidth / ceilings.rated_bandwidth < 1
    for dtype in ("bfloat16", "float32"):
        assert 0.2 < ceilings.sustained_flops[dtype] / ceilings.rated_flops[dtype] < 1


def test_the_fingerprint_is_complete(device: CudaDevice) -> None:
    fingerprint = device.fingerprint()
    assert fingerprint.device == "cuda"
    assert fingerprint.model == torch.cuda.get_device_name()
    assert fingerprint.uuid is not None
    assert fingerprint.uuid.startswith("GPU-")
    assert fingerprint.driver is not None
    assert fingerprint.differences(device.fingerprint()) == []


def test_a_gpu_that_is_not_there_is_said() -> None:
    with pytest.raises(MachineError, match="the first is cuda:0"):
        open_device(f"cuda:{torch.cuda.device_count()}", seed=1)


def test_the_clock_of_a_block_is_read_from_the_cycle_counters(device: CudaDevice) -> None:
    block = measured(device, spin_cell(device.stage, 100e-6, Timer.HELD))
    assert block.after is not None
    assert block.after.sm_clock_hz is not None
    assert block.sm_clock_hz == pytest.approx(block.after.sm_clock_hz, rel=0.05)


def test_what_a_first_look_found_is_not_looked_for_again(device: CudaDevice) -> None:
    cell = addmm_cell(16)
    found = device.prepare(cell, seed=1, check=True).findings
    assert device.prepare(cell, seed=2, check=False, findings=found).findings == found
    assert device.measure(BLOCK_S).launches == found.launches
