"""What is read from the host's files, and what stands in where there are none."""

from pathlib import Path

import pytest

from solwatch.device import host

CPUINFO = "processor\t: 0\nmodel name\t: Example CPU @ 2.00GHz\ncpu MHz\t\t: 2000.000\n\ncpu MHz\t\t: 3000.000\n"
STAT = "cpu  100 0 50 1000 5 0 1 250 0 0\ncpu0 50 0 25 500 2 0 0 125 0 0\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "proc/cpuinfo": CPUINFO,
        "proc/stat": STAT,
        "proc/loadavg": "1.50 1.00 0.50 1/100 1234\n",
        "proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 4096 kB\n",
        "sys/devices/system/cpu/cpu0/cache/index0/size": "48K\n",
        "sys/devices/system/cpu/cpu0/cache/index3/size": "32M\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_name_cache_and_memory_are_read(root: Path) -> None:
    assert host.processor_name(root) == "Example CPU @ 2.00GHz"
    assert host.last_level_cache_bytes(root) == 32 << 20
    assert host.available_memory_bytes(root) == 4 << 20


def test_the_limit_of_a_container_counts(root: Path) -> None:
    folder = root / "sys/fs/cgroup"
    folder.mkdir(parents=True)
    (folder / "memory.max").write_text("3000000\n")
    (folder / "memory.current").write_text("1000000\n")
    assert host.available_memory_bytes(root) == 2_000_000
    (folder / "memory.max").write_text("max\n")
    assert host.available_memory_bytes(root) == 4 << 20


def test_the_clock_is_the_mean_over_cores_and_the_governor_knows_better(root: Path) -> None:
    assert host.core_clock_hz(root) == 2.5e9
    path = root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"
    path.parent.mkdir()
    path.write_text("3600000\n")
    assert host.core_clock_hz(root) == 3.6e9


def test_telemetry_has_load_and_stolen_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: 100)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    telemetry = host.host_telemetry(root)
    assert telemetry.violation_s == {"stolen": 2.5}
    assert telemetry.utilization == 0.75
    assert telemetry.sm_clock_hz == 2.5e9
    assert telemetry.power_w is None


def test_a_host_that_tells_nothing_is_no_error(tmp_path: Path) -> None:
    assert host.processor_name(tmp_path) == "unknown processor"
    assert host.last_level_cache_bytes(tmp_path) == 32 << 20
    assert host.available_memory_bytes(tmp_path) == 1 << 30
    telemetry = host.host_telemetry(tmp_path)
    assert (telemetry.sm_clock_hz, telemetry.utilization, telemetry.violation_s) == (None, None, {})
