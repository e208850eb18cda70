"""What the host says of itself: processor, caches, clock, stolen time, free memory."""

import os
import re
from pathlib import Path

from solwatch.model.record import Telemetry

ROOT = Path("/")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def processor_name(root: Path = ROOT) -> str:
    """Return the processor's model name, ``unknown processor`` where the system doesn't tell."""
    match = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", _read(root / "proc/cpuinfo"), re.MULTILINE)
    return match.group(1).strip() if match else "unknown processor"


def last_level_cache_bytes(root: Path = ROOT) -> int:
    """Return the size of the largest cache of processor 0 in bytes, 32 MB where the system doesn't tell."""
    sizes = [0]
    for path in (root / "sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        match = re.fullmatch(r"(\d+)([KMG]?)", _read(path).strip())
        if match:
            sizes.append(int(match.group(1)) * _UNITS[match.group(2)])
    return max(sizes) or 32 << 20


def available_memory_bytes(root: Path = ROOT) -> int:
    """Return the memory that can be taken without swapping, in bytes, 1 GB where the system doesn't tell.

    The limit of the container counts too, when there is one (cgroup v2).
    """
    match = re.search(r"^MemAvailable:\s*(\d+) kB", _read(root / "proc/meminfo"), re.MULTILINE)
    available = int(match.group(1)) * 1024 if match else 1 << 30
    limit = _read(root / "sys/fs/cgroup/memory.max").strip()
    used = _read(root / "sys/fs/cgroup/memory.current").strip()
    if limit.isdigit() and used.isdigit():
        available = min(available, max(int(limit) - int(used), 0))
    return available


def core_clock_hz(root: Path = ROOT) -> float | None:
    """Return the mean core clock in Hz, ``None`` where the system doesn't tell."""
    clocks = [float(khz) * 1e3 for khz in _scaling_clocks_khz(root)]
    if not clocks:
        text = _read(root / "proc/cpuinfo")
        clocks = [float(mhz) * 1e6 for mhz in re.findall(r"^cpu MHz\s*:\s*([\d.]+)", text, re.MULTILINE)]
    return sum(clocks) / len(clocks) if clocks else None


def stolen_s(root: Path = ROOT) -> float | None:
    """Return the seconds since boot that a hypervisor took from this machine's processors, over all of them."""
    match = re.search(r"^cpu\s+(.+)$", _read(root / "proc/stat"), re.MULTILINE)
    fields = match.group(1).split() if match else []
    return int(fields[7]) / os.sysconf("SC_CLK_TCK") if len(fields) > 7 else None


def host_telemetry(root: Path = ROOT) -> Telemetry:
    """Return the processor's state at this instant.

    ``sm_clock_hz`` is the mean core clock, ``utilization`` the one-minute load over the number of processors
    (above 1: more work than processors), ``violation_s["stolen"]`` the time a hypervisor took.
    """
    load = _read(root / "proc/loadavg").split()
    stolen = stolen_s(root)
    return Telemetry(
        sm_clock_hz=core_clock_hz(root),
        utilization=float(load[0]) / (os.cpu_count() or 1) if load else None,
        violation_s={} if stolen is None else {"stolen": stolen},
    )


def _scaling_clocks_khz(root: Path) -> list[str]:
    paths = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq")
    return [text for text in (_read(path).strip() for path in paths) if text.isdigit()]


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
