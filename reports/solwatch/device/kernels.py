"""Solwatch's own kernels: nothing, flush, spin, clocks, gate, steps. Compiled by NVRTC, without a GPU or a context."""

import ctypes
import importlib
import sys
from typing import Any

from solwatch.device.driver import checked, driver, unpacked
from solwatch.model.errors import MachineError

SOURCE = r"""
extern "C" __global__ void solwatch_null() {}

// Reads count x 16 bytes, every line once, past L1. The data is all zero, so the store never happens: after this
// L2 holds clean lines of a buffer that nothing else reads.
extern "C" __global__ void solwatch_flush(const uint4* data, unsigned long long count, unsigned* sink) {
    unsigned seen = 0;
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const uint4 line = __ldcg(data + i);
        seen |= line.x | line.y | line.z | line.w;
    }
    if (seen) *sink = seen;
}

// Lasts `nanoseconds` of the GPU's global timer, counted from its first instruction. start_end[0..1], if given,
// get the timer's readings, so that a test knows what was really spun.
extern "C" __global__ void solwatch_spin(unsigned long long nanoseconds, unsigned long long* start_end) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
    if (start_end) {
        start_end[0] = start;
        start_end[1] = now;
    }
}

// Notes for every SM that runs a block its cycle counter and the global timer, slots[2 * SM] and the next.
extern "C" __global__ void solwatch_clocks(unsigned long long* slots, unsigned most) {
    unsigned sm;
    unsigned long long cycles, nanoseconds;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    if (sm < most) {
        slots[2 * sm] = cycles;
        slots[2 * sm + 1] = nanoseconds;
    }
}

// Ends when the host has written `ticket` or a later one (cyclic, as cuStreamWaitValue32 compares).
extern "C" __global__ void solwatch_gate(const volatile unsigned* flag, unsigned ticket) {
    while ((int)(*flag - ticket) < 0) {
        __nanosleep(200);
    }
}

// Work of a known amount: `count` steps of x = 1664525 x + 1013904223, each of which needs the one before, so that
// time is linear in `count`. *out gets the last x: it tells whether all steps were taken. Not unrolled, because
// several steps could be folded into one.
extern "C" __global__ void solwatch_steps(unsigned count, unsigned long long* out) {
    unsigned x = 0;
#pragma unroll 1
    for (unsigned i = 0; i < count; ++i) {
        x = 1664525u * x + 1013904223u;
    }
    *out = x;
}
"""

_FLUSH_THREADS = 512
_FLUSH_BLOCKS_PER_SM = 4
"""2048 threads, a full SM: enough loads in flight to read at memory speed."""


_CUBINS: dict[tuple[int, int], bytes] = {}


def compiled(capability: tuple[int, int]) -> bytes:
    """Return the kernels' machine code for a compute capability ((9, 0): sm_90), compiled at the first call.

    Raises ``MachineError`` with the compiler's first line.
    """
    if capability not in _CUBINS:
        _CUBINS[capability] = _compiled(capability)
    return _CUBINS[capability]


def adopt(capability: tuple[int, int], cubin: bytes) -> None:
    """Take machine code that another process compiled."""
    _CUBINS[capability] = cubin


def main() -> None:
    """Write the machine code for the compute capability in the arguments (9 0) to stdout; exit 1 with one line."""
    try:
        sys.stdout.buffer.write(compiled((int(sys.argv[1]), int(sys.argv[2]))))
    except MachineError as error:
        sys.exit(str(error))


def _compiled(capability: tuple[int, int]) -> bytes:
    try:
        nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")
        status, program = nvrtc.nvrtcCreateProgram(SOURCE.encode(), b"solwatch.cu", 0, [], [])
    except (ImportError, RuntimeError, OSError) as error:
        raise MachineError(f"NVRTC is missing ({str(error).splitlines()[0]}): pip install nvidia-cuda-nvrtc") from error
    architecture = f"sm_{capability[0]}{capability[1]}"
    options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17"]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if status:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        lines = log.decode(errors="replace").strip("\0 \n").splitlines() or [str(status)]
        raise MachineError(
            f"NVRTC can't compile the sampler's kernels for sm_{capability[0]}{capability[1]}: {lines[0]}"
        )
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    cubin: bytes = b" " * size
    nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(program)
    return cubin


class Kernels:
    """The kernels, loaded into the current context."""

    def __init__(self, capability: tuple[int, int], sm_count: int) -> None:
        """Load all of them now: a kernel first used behind a held stream would wait for ever."""
        self._module = checked("cuModuleLoadData", compiled(capability))
        self._sm_count = sm_count
        self._launch = driver().cuLaunchKernel
        self._functions = {
            name: checked("cuModuleGetFunction", self._module, f"solwatch_{name}".encode())
            for name in ("null", "flush", "spin", "clocks", "gate", "steps")
        }

    def null(self, stream: Any) -> None:
        """Launch the kernel that does nothing."""
        unpacked("cuLaunchKernel", self._launch(self._functions["null"], 1, 1, 1, 32, 1, 1, 0, stream, 0, 0))

    def flush(self, stream: Any, arguments: "Arguments") -> None:
        """Read a whole buffer; ``arguments``: address, count of 16-byte words, address of a word never written."""
        blocks = self._sm_count * _FLUSH_BLOCKS_PER_SM
        function = self._functions["flush"]
        unpacked(
            "cuLaunchKernel",
            self._launch(function, blocks, 1, 1, _FLUSH_THREADS, 1, 1, 0, stream, arguments.address, 0),
        )

    def spin(self, stream: Any, duration_s: float, start_end: int = 0) -> None:
        """Launch one thread that lasts ``duration_s``; ``start_end``: address of two 64-bit words, or 0."""
        self._one_thread(
            "spin", stream, Arguments(ctypes.c_uint64(round(duration_s * 1e9)), ctypes.c_uint64(start_end))
        )

    def clocks(self, stream: Any, arguments: "Arguments") -> None:
        """Note the SMs' counters; ``arguments``: address of pairs of 64-bit words, and how many pairs there are."""
        function = self._functions["clocks"]
        unpacked(
            "cuLaunchKernel", self._launch(function, self._sm_count, 1, 1, 1, 1, 1, 0, stream, arguments.address, 0)
        )

    def gate(self, stream: Any, flag: int, ticket: int) -> None:
        """Launch one thread that ends when the word at device address ``flag`` reaches ``ticket``."""
        self._one_thread("gate", stream, Arguments(ctypes.c_uint64(flag), ctypes.c_uint32(ticket)))

    def steps(self, stream: Any, count: int, out: int) -> None:
        """Launch one thread of ``count`` steps, each after the other; ``out``: address of a 64-bit word."""
        self._one_thread("steps", stream, Arguments(ctypes.c_uint32(count), ctypes.c_uint64(out)))

    def _one_thread(self, name: str, stream: Any, arguments: "Arguments") -> None:
        function = self._functions[name]
        unpacked("cuLaunchKernel", self._launch(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments.address, 0))


class Arguments:
    """A kernel's arguments as the driver wants them: an array of pointers to the values, kept alive here."""

    def __init__(self, *values: Any) -> None:
        """Keep ``values`` (ctypes)."""
        self._values = values
        self._pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        self.address = ctypes.addressof(self._pointers)


if __name__ == "__main__":
    main()
