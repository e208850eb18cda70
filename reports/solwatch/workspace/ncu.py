"""Nsight Compute's command line: what is asked of it, and its raw page of comma-separated values read."""

import csv
import math
import re
from collections.abc import Mapping, Sequence

from solwatch.judge.kernel_names import short_title
from solwatch.model.plain import plain
from solwatch.model.why import Profile
from solwatch.workspace.cuda_tools import ToolFailed
from solwatch.workspace.demangling import demangled

MOST_LAUNCHES = 16
SECTIONS = ("SpeedOfLight", "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis", "Occupancy", "WarpStateStats")
METRICS = ("gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum")

_PERMISSION = "ERR_NVGPUCTRPERM"
_MESSAGE = re.compile(r"^==(ERROR|WARNING)==\s*(.*)")
_DRAM = re.compile(r"(gpu__dram_throughput|dram__throughput)\.avg\.pct_of_peak_sustained_elapsed")
_TENSOR = re.compile(r"sm__(inst_executed_)?pipe_tensor\w*\.avg\.pct_of_peak_sustained_(active|elapsed)")
_OCCUPANCY = re.compile(r"sm__warps_active\.avg\.pct_of_peak_sustained_active")
_STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.ratio")


def ncu_command(ncu: str, target: Sequence[str]) -> list[str]:
    """Return the command that counts what ``target`` launches between its profiler marks.

    Clocks are left alone: both sides run as they were measured.
    """
    sections = [word for name in SECTIONS for word in ("--section", name)]
    return [
        ncu, "--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "mangled",
        "--profile-from-start", "off", "--target-processes", "application-only", "--clock-control", "none",
        "--launch-count", str(MOST_LAUNCHES), *sections, "--metrics", ",".join(METRICS), *target,
    ]  # fmt: skip


def ncu_profiles(printed: str) -> list[Profile]:
    """Return the launches that ncu ``printed``; raises ``ToolFailed`` with its own words when there are none."""
    lines = printed.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise ToolFailed(_refusal(lines))
    rows = list(csv.DictReader(line for line in lines[start:] if line.startswith('"')))
    launches = [row for row in rows if (row.get("ID") or "").isdecimal()]  # the first row holds units
    if not launches:
        raise ToolFailed(_refusal(lines))
    return [_profile(row) for row in launches]


def _refusal(lines: Sequence[str]) -> str:
    if any(_PERMISSION in line for line in lines):
        return (
            f"ncu may not read the GPU's counters ({_PERMISSION}): the driver lets administrators alone, "
            "see NVreg_RestrictProfilingToAdminUsers; the verdict doesn't need it"
        )
    said = [match[2] for line in lines if (match := _MESSAGE.match(line)) and match[2]]
    return f"ncu counted nothing: {plain(said[0] if said else 'no kernel was launched between the marks', 200)}"


def _profile(row: Mapping[str, str]) -> Profile:
    figures = {name: value for name, text in row.items() if name and (value := _number(text)) is not None}
    read, written = figures.get("dram__bytes_read.sum"), figures.get("dram__bytes_write.sum")
    duration_ns = figures.get("gpu__time_duration.sum")
    return Profile(
        kernel=plain(short_title(demangled(row.get("Kernel Name") or "")), 200),
        duration_s=duration_ns * 1e-9 if duration_ns is not None else None,
        dram_share=_highest(figures, _DRAM),
        dram_bytes=read + written if read is not None and written is not None else None,
        tensor_share=_highest(figures, _TENSOR),
        occupancy=_highest(figures, _OCCUPANCY),
        stalls={
            match[1].replace("_", " "): value for name, value in figures.items() if (match := _STALL.fullmatch(name))
        },
    )


def _highest(figures: Mapping[str, float], pattern: re.Pattern[str]) -> float | None:
    """Return the highest of the percentages whose name fits, as a fraction: there is one for each kind of pipe."""
    return max((value / 100 for name, value in figures.items() if pattern.fullmatch(name)), default=None)


def _number(text: str | None) -> float | None:
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None
