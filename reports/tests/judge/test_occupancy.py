"""Theoretical occupancy against the arithmetic of the CUDA toolkit itself."""

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solwatch.judge.occupancy import SM_LIMITS, occupancy

HOPPER = (9, 0)


def test_a_full_multiprocessor() -> None:
    found = occupancy(HOPPER, threads=256, registers=32, shared_bytes=0)
    assert found is not None
    assert (found.blocks, found.share, found.limit) == (8, 1.0, "warps")


@pytest.mark.parametrize(
    ("registers", "shared_bytes", "blocks", "limit"),
    [(128, 0, 4, "registers"), (168, 0, 3, "registers"), (32, 100 << 10, 2, "shared memory"), (255, 0, 2, "registers")],
)
def test_what_limits_a_block_of_128_threads(registers: int, shared_bytes: int, blocks: int, limit: str) -> None:
    found = occupancy(HOPPER, threads=128, registers=registers, shared_bytes=shared_bytes)
    assert found is not None
    assert (found.blocks, found.limit) == (blocks, limit)
    assert found.share == blocks * 4 / 64


def test_the_driver_s_own_count_counts() -> None:
    found = occupancy(HOPPER, threads=128, registers=128, shared_bytes=0, blocks=3)
    assert found is not None
    assert (found.blocks, found.share) == (3, 12 / 64)


def test_nothing_is_said_of_a_gpu_that_is_not_known_or_a_block_that_does_not_fit() -> None:
    assert occupancy((5, 0), threads=128, registers=32, shared_bytes=0) is None
    assert occupancy(HOPPER, threads=0, registers=32, shared_bytes=0) is None
    assert occupancy(HOPPER, threads=128, registers=32, shared_bytes=228 << 10) is None
    assert occupancy(HOPPER, threads=1024, registers=80, shared_bytes=0) is None


@settings(deadline=None)
@given(
    capability=st.sampled_from(sorted(SM_LIMITS)),
    threads=st.integers(1, 1024),
    registers=st.integers(1, 254),
    shared_bytes=st.integers(0, 227 << 10),
)
def test_more_of_anything_never_fits_better(
    capability: tuple[int, int], threads: int, registers: int, shared_bytes: int
) -> None:
    def blocks(registers: int, shared_bytes: int) -> int:
        found = occupancy(capability, threads=threads, registers=registers, shared_bytes=shared_bytes)
        return found.blocks if found else 0

    now = blocks(registers, shared_bytes)
    assert blocks(registers + 1, shared_bytes) <= now
    assert blocks(registers, shared_bytes + 128) <= now
    found = occupancy(capability, threads=threads, registers=registers, shared_bytes=shared_bytes)
    assert found is None or 0 < found.share <= 1


ORACLE = r"""
#include <cstddef>
#include <cstdio>
#include <cuda_occupancy.h>
int main() {
  int major, minor, shared_per_sm, warps, threads, registers, shared;
  while (scanf("%d %d %d %d %d %d %d", &major, &minor, &shared_per_sm, &warps, &threads, &registers, &shared) == 7) {
    cudaOccDeviceProp device;
    device.computeMajor = major;
    device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = 32 * warps;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 49152;
    device.sharedMemPerMultiprocessor = shared_per_sm;
    device.numSms = 1;
    device.sharedMemPerBlockOptin = shared_per_sm - 1024;
    device.reservedSharedMemPerBlock = 1024;
    cudaOccFuncAttributes kernel;
    kernel.maxThreadsPerBlock = 1024;
    kernel.numRegs = registers;
    kernel.sharedSizeBytes = 0;
    kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = shared_per_sm - 1024;
    kernel.numBlockBarriers = 1;
    cudaOccDeviceState state;
    cudaOccResult result;
    auto error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, shared);
    printf("%d\n", error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1);
  }
}
"""


def test_it_is_what_the_toolkit_says(tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    home = Path("/usr/local/cuda")
    include = next((path for path in [home / "include"] if (path / "cuda_occupancy.h").is_file()), None)
    if include is None and nvcc is not None:
        include = Path(nvcc).resolve().parent.parent / "include"
    if include is None or not (include / "cuda_occupancy.h").is_file():
        pytest.skip("no cuda_occupancy.h of a CUDA toolkit")
    (tmp_path / "oracle.cpp").write_text(ORACLE)
    program = tmp_path / "oracle"
    subprocess.run(["g++", "-I", str(include), str(tmp_path / "oracle.cpp"), "-o", str(program)], check=True)
    cases = [
        (capability, threads, registers, shared)
        for capability in SM_LIMITS
        for threads, registers, shared in itertools.product(
            (32, 96, 128, 160, 256, 384, 512, 1024), (16, 33, 64, 72, 128, 168, 232, 255), (0, 1000, 24 << 10, 70 << 10)
        )
    ]
    lines = [
        " ".join(map(str, (*capability, SM_LIMITS[capability].shared_bytes, SM_LIMITS[capability].warps, *block)))
        for capability, *block in cases
    ]
    said = subprocess.run([str(program)], input="\n".join(lines), capture_output=True, text=True, check=True).stdout
    for (capability, threads, registers, shared), text in zip(cases, said.split(), strict=True):
        found = occupancy(capability, threads=threads, registers=registers, shared_bytes=shared)
        assert (found.blocks if found else 0) == int(text), (capability, threads, registers, shared)
