"""Nsight Compute's own output, and its ways of refusing."""

import pytest

from solwatch.workspace.cuda_tools import ToolFailed
from solwatch.workspace.ncu import METRICS, ncu_command, ncu_profiles

COLUMNS = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","dram__bytes_read.sum","dram__bytes_write.sum","gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",'
    '"gpu__time_duration.sum","sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active",'
    '"sm__inst_executed_pipe_tensor_op_imma.avg.pct_of_peak_sustained_active",'
    '"sm__warps_active.avg.pct_of_peak_sustained_active",'
    '"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",'
    '"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"'
)
UNITS = '"","","","","","","","","","","","byte","byte","%","nsecond","%","%","%","inst","inst"'
ROW = (
    '"0","4711","python3","127.0.0.1","_ZN12fused_o_proj9mma_tile_IfEEvPT_","1","7","(128, 1, 1)","(64, 1, 1)","0",'
    '"9.0","33,554,432","131,072","61.4","18,240","23.5","0","18.6","7.25","0.5"'
)
PRINTED = "\n".join(
    [
        "==PROF== Connected to process 4711 (/usr/bin/python3.11)",
        '==PROF== Profiling "mma_tile_kernel" - 0: 0%....50%....100% - 14 passes',
        "a line of the suite's own",
        "==PROF== Disconnected from process 4711",
        COLUMNS,
        UNITS,
        ROW,
        ROW.replace('"0","4711"', '"1","4711"').replace('"61.4"', '"n/a"'),
        "",
    ]
)


def test_the_raw_page_is_read() -> None:
    first, second = ncu_profiles(PRINTED)
    assert first.kernel == "fused_o_proj::mma_tile_<float>"
    assert first.duration_s == pytest.approx(18.24e-6)
    assert first.dram_bytes == 33_554_432 + 131_072
    assert (first.dram_share, first.tensor_share, first.occupancy) == pytest.approx((0.614, 0.235, 0.186))
    assert first.stalls == {"long scoreboard": 7.25, "barrier": 0.5}
    assert second.dram_share is None


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (
            "==PROF== Connected to process 7\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
            "NVIDIA GPU Performance Counters on the target device 0. For instructions on enabling permissions see …\n",
            r"ncu may not read the GPU's counters \(ERR_NVGPUCTRPERM\)",
        ),
        (
            "==ERROR== Profiling is not supported on this device\n==PROF== Disconnected\n",
            "ncu counted nothing: Profiling is not supported on this device",
        ),
        ("==WARNING== No kernels were profiled.\n", "ncu counted nothing: No kernels were profiled."),
        ("", "ncu counted nothing: no kernel was launched between the marks"),
        (f"{COLUMNS}\n{UNITS}\n", "ncu counted nothing"),
        ('"ID\n', "ncu counted nothing"),
    ],
)
def test_a_refusal_is_one_line(printed: str, said: str) -> None:
    with pytest.raises(ToolFailed, match=said) as refused:
        ncu_profiles(printed)
    assert "\n" not in str(refused.value)


def test_the_command_leaves_the_clocks_alone_and_counts_between_the_marks() -> None:
    command = ncu_command("/opt/ncu", ["python3", "-m", "x"])
    assert command[0] == "/opt/ncu"
    assert command[-3:] == ["python3", "-m", "x"]
    assert command[command.index("--clock-control") + 1] == "none"
    assert command[command.index("--profile-from-start") + 1] == "off"
    assert command[command.index("--metrics") + 1] == ",".join(METRICS)
