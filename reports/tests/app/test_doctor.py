"""The examination: each thing that can be wrong gives its own finding, with a fix, and never a crash."""

from dataclasses import replace

import pytest
from fakes.machines import H200, NO_GPU, gpu_machine

from solwatch.app.doctor import diagnose
from solwatch.model.errors import RequestError
from solwatch.model.finding import Finding, Status
from solwatch.model.machine import CompilerFacts, GpuFacts, HistoryFacts, TorchFacts

CPU_TORCH = TorchFacts(version="2.13.0+cpu", cuda=None)


def named(findings, name):
    found = [finding for finding in findings if finding.name == name]
    assert len(found) == 1, [finding.name for finding in findings]
    return found[0]


def test_a_machine_on_which_all_is_well():
    findings = diagnose("auto", gpu_machine())
    assert [finding.status for finding in findings] == [Status.OK] * 10
    assert [finding.name for finding in findings] == [
        "GPU", "driver", "toolkit", "torch", "NVML", "compiler", "operator", "git history", "asv machine", "disk",
    ]  # fmt: skip


def test_a_machine_without_gpu_measures_its_cpu_and_nothing_of_the_gpu_is_asked():
    findings = diagnose("auto", gpu_machine(gpu=NO_GPU, torch=CPU_TORCH, nvcc=None))
    assert {finding.status for finding in findings} == {Status.OK}
    assert not {"driver", "toolkit", "NVML"} & {finding.name for finding in findings}
    assert "CPU" in named(findings, "GPU").found


def test_no_gpu_where_one_is_asked_for():
    finding = named(diagnose("cuda", gpu_machine(gpu=NO_GPU)), "GPU")
    assert finding.status is Status.FAIL
    assert "libnvidia-ml" in finding.found
    assert "--device cpu" in finding.fix


def test_an_index_beyond_the_gpus():
    assert named(diagnose("cuda:1", gpu_machine()), "GPU").status is Status.FAIL
    two = replace(H200, models=("NVIDIA H200", "NVIDIA H200"))
    assert named(diagnose("cuda:1", gpu_machine(gpu=two)), "GPU").status is Status.OK


@pytest.mark.parametrize(
    ("version", "status"),
    [("12.9.86", Status.OK), ("13.0.88", Status.OK), ("13.1.80", Status.WARN), ("14.0.1", Status.FAIL)],
)
def test_a_toolkit_against_the_driver(version, status):
    sources = gpu_machine(nvcc=CompilerFacts(path="/usr/bin/nvcc", version=version))
    assert named(diagnose("cuda", sources), "toolkit").status is status


def test_no_toolkit_beside_a_gpu():
    finding = named(diagnose("auto", gpu_machine(nvcc=None)), "toolkit")
    assert finding.status is Status.FAIL
    assert "CUDA_HOME" in finding.fix


@pytest.mark.parametrize(
    ("torch", "words"),
    [
        (None, "not installed"),
        (TorchFacts(version="2.9.1", cuda="13.0"), "older than 2.10"),
        (CPU_TORCH, "can't use the GPU"),
        (TorchFacts(version="2.13.0", cuda="14.0"), "newer than the driver's CUDA 13.0"),
    ],
)
def test_a_torch_that_cannot_serve(torch, words):
    finding = named(diagnose("cuda", gpu_machine(torch=torch)), "torch")
    assert finding.status is Status.FAIL
    assert words in finding.found


def test_torch_2_10_is_not_older_than_2_9():
    torch = TorchFacts(version="2.10.0", cuda="13.0")
    assert named(diagnose("cuda", gpu_machine(torch=torch)), "torch").status is Status.OK


def test_readings_that_the_gpu_refuses_and_strangers_on_it():
    gpu = replace(H200, unreadable=("power", "violation counters"), other_processes=(4711,))
    findings = diagnose("auto", gpu_machine(gpu=gpu))
    assert named(findings, "NVML").status is Status.WARN
    assert "violation counters" in named(findings, "NVML").found
    assert "4711" in named(findings, "other processes").found


def test_a_driver_that_does_not_answer():
    findings = diagnose("cuda", gpu_machine(gpu=GpuFacts(error="driver/library version mismatch")))
    assert named(findings, "driver").status is Status.FAIL
    assert named(findings, "NVML").found == "driver/library version mismatch"


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (HistoryFacts(commits=1, shallow=True), "shallow"),
        (HistoryFacts(commits=1, shallow=False), "first commit"),
    ],
)
def test_history_that_has_no_base(history, words):
    finding = named(diagnose("auto", gpu_machine(history=history)), "git history")
    assert finding.status is Status.WARN
    assert words in finding.found


@pytest.mark.parametrize(("free", "status"), [(0.9e9, Status.FAIL), (4.9e9, Status.WARN), (5e9, Status.OK)])
def test_disk(free, status):
    assert named(diagnose("auto", gpu_machine(free=free)), "disk").status is status


def test_a_wrong_result_is_told_from_an_operator_that_does_not_load():
    def wrong():
        raise AssertionError("out[3, 7] is 1.5, the reference 1.25")

    def unloadable():
        raise OSError("undefined symbol: aoti_torch_device_type_cuda")

    assert "wrong: out[3, 7]" in named(diagnose("auto", gpu_machine(check_op=wrong)), "operator").found
    assert "undefined symbol" in named(diagnose("auto", gpu_machine(check_op=unloadable)), "operator").found


def test_a_source_that_fails_spoils_only_its_own_finding():
    def broken():
        raise PermissionError(13, "Permission denied")

    def refused():
        raise RequestError("not in a git repository: run from a clone of the project")

    sources = replace(gpu_machine(), gpu=broken, history=refused)
    findings = diagnose("auto", sources)
    assert "Permission denied" in named(findings, "GPU").found
    assert named(findings, "git history").found.startswith("not in a git repository")
    assert named(findings, "disk").status is Status.OK


def test_a_missing_compiler_and_a_missing_machine_file():
    findings = diagnose("cpu", gpu_machine(compiler=None, asv_machine=None))
    assert named(findings, "compiler").status is Status.FAIL
    assert named(findings, "asv machine").status is Status.WARN


def test_no_compiler_is_needed_where_builds_are_handed_over():
    findings = diagnose("cuda", replace(gpu_machine(nvcc=None, compiler=None), builds="packs/builds"))
    assert {finding.status for finding in findings} == {Status.OK}
    for name in ("toolkit", "compiler"):
        assert named(findings, name).found == "not needed: builds come from packs/builds"


def test_an_operator_that_was_handed_over_and_does_not_load_is_not_built_by_hand():
    def unloadable():
        raise OSError("undefined symbol: aoti_torch_device_type_cuda")

    finding = named(diagnose("cuda", replace(gpu_machine(check_op=unloadable), builds="builds")), "operator")
    assert finding.status is Status.FAIL
    assert "undefined symbol" in finding.found
    assert "solwatch build" in finding.fix


@pytest.mark.parametrize(("status", "fix"), [(Status.OK, "a fix"), (Status.FAIL, None), (Status.WARN, None)])
def test_a_finding_has_a_fix_exactly_when_something_is_wrong(status, fix):
    with pytest.raises(ValueError, match="a fix belongs to what is wrong"):
        Finding(name="disk", status=status, found="full", fix=fix)
