"""The findings about a GPU and the software that must agree with it: driver, CUDA compiler, torch, NVML."""

import re
from dataclasses import dataclass

from solwatch.model.finding import Finding, Status
from solwatch.model.machine import CompilerFacts, GpuFacts, TorchFacts

MIN_TORCH = (2, 10)
"""First torch whose stable ABI has what the library is built on."""


@dataclass(frozen=True)
class Asked:
    """Which device is asked for: ``auto``, ``cpu``, ``cuda`` or ``cuda:<index>``."""

    device: str

    @property
    def demands_gpu(self) -> bool:
        """Whether a machine without a GPU can't do what is asked."""
        return self.device.startswith("cuda")

    @property
    def index(self) -> int:
        """Index of the GPU that is asked for."""
        _, _, index = self.device.partition(":")
        return int(index or 0)

    def uses_gpu(self, gpu: GpuFacts) -> bool:
        """Return whether the GPU's findings matter."""
        return self.demands_gpu or (self.device == "auto" and bool(gpu.models))


def gpus(asked: Asked, gpu: GpuFacts) -> list[Finding]:
    """Judge whether the device that is asked for is there."""
    if asked.device == "cpu":
        return [Finding(name="GPU", status=Status.OK, found="not asked for: the CPU is measured")]
    if len(gpu.models) > asked.index:
        listed = ", ".join(f"cuda:{index} {model}" for index, model in enumerate(gpu.models))
        return [Finding(name="GPU", status=Status.OK, found=listed)]
    why = gpu.error or "the driver shows none to this process"
    if asked.demands_gpu:
        found = f"no {asked.device}: {why}" if not gpu.models else f"no {asked.device}: {len(gpu.models)} GPU(s)"
        fix = "check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or measure the CPU: --device cpu"
        return [Finding(name="GPU", status=Status.FAIL, found=found, fix=fix)]
    return [Finding(name="GPU", status=Status.OK, found=f"none: the CPU is measured ({why})")]


def drivers(gpu: GpuFacts) -> list[Finding]:
    """Judge the driver: it must answer."""
    if gpu.driver is None:
        fix = "install NVIDIA's driver, or repair it after an update: a reboot reloads the kernel module"
        return [Finding(name="driver", status=Status.FAIL, found=gpu.error or "it doesn't tell its version", fix=fix)]
    runs = f", runs CUDA up to {_dotted(gpu.driver_cuda)}" if gpu.driver_cuda else ""
    return [Finding(name="driver", status=Status.OK, found=f"{gpu.driver}{runs}")]


def toolkits(gpu: GpuFacts, nvcc: CompilerFacts | None, builds: str | None) -> list[Finding]:
    """Judge the CUDA compiler: it must be there, unless builds are handed over, and no newer than the driver."""
    if builds is not None:
        return [Finding(name="toolkit", status=Status.OK, found=f"not needed: builds come from {builds}")]
    if nvcc is None:
        return [
            Finding(
                name="toolkit",
                status=Status.FAIL,
                found="no nvcc: kernels would be built without CUDA",
                fix="set CUDA_HOME to a toolkit, or install the compiler's packages: pip install 'solwatch[toolkit]'",
            )
        ]
    found = f"nvcc {nvcc.version or 'of unknown version'}, {nvcc.path}"
    release = _release(nvcc.version)
    if release and gpu.driver_cuda and release > gpu.driver_cuda:
        # within a major version only PTX needs the newer driver; machine code for this GPU runs
        other_major = release[0] > gpu.driver_cuda[0]
        meaning = "its kernels do not run" if other_major else "machine code runs, PTX does not"
        return [
            Finding(
                name="toolkit",
                status=Status.FAIL if other_major else Status.WARN,
                found=f"{found}, is newer than the driver's CUDA {_dotted(gpu.driver_cuda)}: {meaning}",
                fix=f"update the driver, or build with CUDA {_dotted(gpu.driver_cuda)} or older (CUDA_HOME)",
            )
        ]
    return [Finding(name="toolkit", status=Status.OK, found=found)]


def torches(used: bool, gpu: GpuFacts, torch: TorchFacts | None) -> list[Finding]:
    """Judge torch: new enough, and for a GPU a CUDA build that the driver runs."""
    oldest = _dotted(MIN_TORCH)
    if torch is None:
        fix = f"install torch >= {oldest} into this environment"
        return [Finding(name="torch", status=Status.FAIL, found="not installed beside solwatch", fix=fix)]
    found = f"{torch.version}, {'built for CUDA ' + torch.cuda if torch.cuda else 'built without CUDA'}"
    release = _release(torch.version)
    if release and release < MIN_TORCH:
        fix = f"install torch >= {oldest}"
        return [Finding(name="torch", status=Status.FAIL, found=f"{found}: older than {oldest}", fix=fix)]
    if used and torch.cuda is None:
        fix = "install a CUDA build of torch, or measure the CPU: --device cpu"
        return [Finding(name="torch", status=Status.FAIL, found=f"{found}: it can't use the GPU", fix=fix)]
    built_for = _release(torch.cuda)
    if used and built_for and gpu.driver_cuda and built_for[0] > gpu.driver_cuda[0]:
        fix = f"update the driver, or install a torch built for CUDA {gpu.driver_cuda[0]}"
        newer = f"newer than the driver's CUDA {_dotted(gpu.driver_cuda)}"
        return [Finding(name="torch", status=Status.FAIL, found=f"{found}: {newer}", fix=fix)]
    return [Finding(name="torch", status=Status.OK, found=found)]


def nvml(gpu: GpuFacts) -> list[Finding]:
    """Judge what can be read while measuring, and who else is on the GPU."""
    if gpu.error is not None:
        fix = "install nvidia-ml-py and check that libnvidia-ml.so.1 of the driver is visible (in a container too)"
        return [Finding(name="NVML", status=Status.FAIL, found=gpu.error, fix=fix)]
    findings = [Finding(name="NVML", status=Status.OK, found="all readings answer")]
    if gpu.unreadable:
        findings = [
            Finding(
                name="NVML",
                status=Status.WARN,
                found=f"no answer for {', '.join(gpu.unreadable)}: they are left out, and can't void a run",
                fix="give the container or user the right to read them, or accept results with less evidence",
            )
        ]
    if gpu.other_processes:
        listed = ", ".join(map(str, gpu.other_processes))
        findings.append(
            Finding(
                name="other processes",
                status=Status.WARN,
                found=f"on the GPU now: {listed}; measurements beside them are void",
                fix="end them, or measure on another GPU: --device cuda:1",
            )
        )
    return findings


def _release(version: str | None) -> tuple[int, int] | None:
    match = re.search(r"(\d+)\.(\d+)", version or "")
    return (int(match[1]), int(match[2])) if match else None


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
