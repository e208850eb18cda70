"""A CUDA driver library that only names GPUs, for processes that look for one: real loading, no GPU."""

import os
import shutil
import subprocess
from pathlib import Path

SOURCE = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
// FAKE_GPUS: a hexadecimal digit for each visible GPU, in CUDA's order; 'm' in front makes it a slice ("a mb").
static int nth(int index, char *digit, int *slice) {
  const char *all = getenv("FAKE_GPUS");
  for (; all && *all; all++) {
    if (*all == ' ') continue;
    *slice = *all == 'm';
    if (*slice) all++;
    *digit = *all;
    if (index-- == 0) return 0;
  }
  return 101;
}
extern "C" {
int cuInit(unsigned) { return getenv("FAKE_GPUS") ? 0 : 100; }
int cuDeviceGetCount(int *count) {
  char digit; int slice;
  for (*count = 0; nth(*count, &digit, &slice) == 0;) ++*count;
  return 0;
}
int cuDeviceGet(int *device, int index) {
  char digit; int slice;
  *device = index + 7;
  return nth(index, &digit, &slice);
}
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
  char text[2] = {0, 0}; int slice;
  int error = nth(device - 7, text, &slice);
  memset(uuid, 0, 16);
  uuid[15] = (unsigned char)strtol(text, nullptr, 16);
  return error;
}
int cuDeviceGetName(char *name, int size, int device) {
  char digit; int slice = 0;
  int error = nth(device - 7, &digit, &slice);
  snprintf(name, size, slice ? "Example MIG 1g.10gb" : "Example");
  return error;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  char digit; int slice = 0;
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : -1;  // compute capability 9.0
  return nth(device - 7, &digit, &slice);
}
int cuGetErrorString(int error, const char **text) {
  *text = error == 100 ? "no CUDA-capable device is detected" : "other";
  return 0;
}
}
"""


def fake_driver(folder: Path) -> Path:
    """Build the library into ``folder`` and return the folder, for LD_LIBRARY_PATH."""
    (folder / "driver.cpp").write_text(SOURCE)
    compiler = shutil.which(os.environ.get("CXX", "g++").split()[0])
    assert compiler is not None, "a C++ compiler is needed, as for the op itself"
    command = [compiler, "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), str(folder / "driver.cpp")]
    subprocess.run(command, check=True)
    return folder


def uuid_of(digit: str, *, kind: str = "GPU") -> str:
    """Return the UUID of the GPU that ``FAKE_GPUS`` names by ``digit``."""
    return f"{kind}-00000000-0000-0000-0000-00000000000{digit}"
